#include "actors/torch.hpp"

#include "algorithms/ppo/ppo_run.hpp"

#include <nlohmann/json.hpp>

#include "actors/checkpoint/sha256.hpp"
#include "actors/checkpoint_metrics.hpp"
#include "algorithms/ppo/ppo_training.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe {

namespace {

checkpoint_directory checkpoints_of(const run_directory& run, const ppo_config& config) {
  return checkpoint_directory(run.path() / "checkpoints",
                              static_cast<std::size_t>(config.checkpoint.keep));
}

/// The state after the update that ends the segment, or the one before a stop.
task<checkpoint> train_segment(detail::production& p, const checkpoint* from, std::int64_t until) {
  co_await detail::serve_cast(p, from);
  co_await detail::train_until(p, until, true);
  if (p.done.version < until) co_await detail::keep_last_model(p);
  co_return co_await detail::save_cast(p);
}

task<ppo_summary> finish_segment(detail::production& p, const checkpoint* from) {
  co_await detail::serve_cast(p, from);
  co_return co_await detail::conclude(p);
}

class ppo_segments {
 public:
  ppo_segments(const ppo_config& config, ppo_output output, const ppo_run_options& options)
      : config_(config), output_(std::move(output)), options_(options), metrics_(registry()) {}

  ppo_result run(std::optional<checkpoint> from) {
    const auto every = config_.checkpoint.every_updates;
    const auto steps_of_update = config_.steps_of_update();
    std::int64_t version = from ? from->step / steps_of_update : 0;
    while (version < config_.updates() && !(from && detail::progress_of(*from).stopped)) {
      if (stop_asked()) return stopped(from);
      const auto until = std::min(config_.updates(), (version / every + 1) * every);
      from = in_system(version, [&](detail::production& p) {
        auto state = p.sys.run(train_segment(p, from ? &*from : nullptr, until));
        output_.directory = p.directory.path().string();
        version = p.done.version;
        return state;
      });
      write(*from);
    }
    if (stop_asked()) return stopped(from);
    try {
      auto summary = in_system(
          version, [&](detail::production& p) { return p.sys.run(finish_segment(p, &*from)); });
      return {summary, summary.run_directory, summary.steps};
    } catch (const call_error& e) {
      if (e.kind() == error_kind::cancelled && stop_asked()) return stopped(from);
      throw;
    }
  }

  ppo_result run_without_checkpoints() {
    auto summary = in_system(
        0, [](detail::production& p) { return p.sys.run(detail::run_from_the_start(p)); });
    return {summary, summary.run_directory, summary.steps};
  }

 private:
  metrics_registry& registry() {
    if (!options_.metrics) options_.metrics = std::make_shared<metrics_registry>();
    return *options_.metrics;
  }

  bool stop_asked() const { return options_.stop_asked && options_.stop_asked(); }

  ppo_result stopped(const std::optional<checkpoint>& at) const {
    return {std::nullopt, output_.directory, at ? at->step : 0};
  }

  /// Calls `play` with a cast on a new system.
  template <class Play>
  std::invoke_result_t<const Play&, detail::production&> in_system(std::int64_t version,
                                                                   const Play& play) {
    // Drawn anew for each segment, and from nothing that an interruption could change.
    const auto seed = version == 0
                          ? config_.seed
                          : action_random(config_.seed + action_random(version).next()).next();
    system sys({.threads = options_.threads,
                .deterministic = config_.deterministic,
                .seed = seed,
                .faults = config_.plan(),
                .metrics = options_.metrics});
    detail::production p(sys, config_, output_, options_.callbacks);
    p.stop_asked = options_.stop_asked;
    return play(p);
  }

  void write(const checkpoint& state) const {
    const auto began = std::chrono::steady_clock::now();
    try {
      const auto run = run_directory::open(output_.directory);
      const auto place = checkpoints_of(run, config_).write(state);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
      metrics_.written(state.step, state.size(), took.count());
      log::debug("a checkpoint was written",
                 {{"path", place.string()}, {"bytes", state.size()}, {"seconds", took.count()}});
    } catch (const std::exception& e) {
      metrics_.not_written();
      log::error("a checkpoint was not written; training goes on, those before are kept",
                 {{"step", state.step}, {"error", e.what()}});
    }
  }

  const ppo_config& config_;
  ppo_output output_;
  ppo_run_options options_;
  const checkpoint_metrics metrics_;
};

}  // namespace

ppo_result run_ppo(const ppo_config& config, ppo_output output, const ppo_run_options& options,
                   std::optional<checkpoint> from) {
  if (from) require_kind(*from, detail::kind_of(config), "run_ppo");
  if (output.directory.empty()) detail::require_folder(output.root, config.algo);
  if (from) output.resumed_from_step = from->step;
  ppo_segments segments(config, std::move(output), options);
  if (config.checkpoint.every_updates == 0) return segments.run_without_checkpoints();
  return segments.run(std::move(from));
}

ppo_resumption open_ppo_run(const std::string& directory, metrics_registry& metrics) {
  const auto run = run_directory::open(directory);
  return resume_ppo_run(directory, parse_config<ppo_config>(read_json_file(run.config_json())),
                        metrics);
}

ppo_resumption resume_ppo_run(const std::string& directory, ppo_config config,
                              metrics_registry& metrics) {
  const auto run = run_directory::open(directory);
  if (config.checkpoint.every_updates == 0) {
    throw std::invalid_argument(directory +
                                ": expected a run with checkpoints, but its config.json has a "
                                "checkpoint.every_updates of 0");
  }
  const checkpoint_metrics counted(metrics);
  const auto refused = [&](const std::filesystem::path& path, const std::string& why) {
    counted.refused();
    log::warn("a damaged checkpoint was passed over", {{"path", path.string()}, {"error", why}});
  };
  auto from = checkpoints_of(run, config).load_newest(detail::kind_of(config), refused);
  if (from && from->config_sha256 != sha256(config.stored())) {
    log::warn("the configuration has changed since the checkpoint was written",
              {{"path", run.config_json().string()}});
  }
  return {std::move(config), std::move(from)};
}

}  // namespace troupe
