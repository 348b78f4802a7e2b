#include "actors/torch/torch.hpp"

#include "algorithms/run/train.hpp"

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/collective/collective.hpp"
#include "actors/metrics/checkpoint_metrics.hpp"
#include "actors/networks/acting_network.hpp"
#include "actors/random/derived_seed.hpp"
#include "actors/worlds/scripted_policies.hpp"
#include "algorithms/run/algorithm.hpp"
#include "algorithms/run/initial_model.hpp"
#include "algorithms/run/run_state.hpp"
#include "algorithms/run/server_sessions.hpp"
#include "algorithms/run/start_notices.hpp"
#include "runtime/base/log.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe {

namespace {

std::filesystem::path folder_of_checkpoints(const run_directory& run) {
  return run.path() / "checkpoints";
}

checkpoint_directory checkpoints_of(const run_directory& run, const run_settings& settings) {
  return checkpoint_directory(folder_of_checkpoints(run),
                              static_cast<std::size_t>(settings.checkpoint.keep));
}

bool is_stop(const training_run& run, const call_error& error) {
  return error.kind() == error_kind::cancelled && run.is_stop_asked();
}

/// Returns whether a segment ends without a state because the run is asked to stop. Then an error
/// of an episode ends it, too: the episode is not tried again.
bool is_end_of_segment(const training_run& run, const call_error& error) {
  if (!run.is_stop_asked()) return false;
  if (!is_stop(run, error)) {
    log::warn("training failed while the run was asked to stop", {{"error", error.what()}});
  }
  return true;
}

task<bool> serve_roles(training_run& run, const checkpoint* from) {
  co_await run.serve_roles(from);
  co_return true;
}

/// The interval at which a run that waits checks whether it is asked to stop.
constexpr auto stop_poll = std::chrono::milliseconds(50);

/// Returns `value` once the run is asked to stop. In a deterministic run it never returns, because
/// the result would depend on when it asks; there, training itself asks after each update.
template <class T>
task<T> once_stopped(training_run& run, T value) {
  if (run.settings.deterministic || !run.stop_asked) co_await sleep_for(duration::max());
  while (!run.stop_asked()) co_await sleep_for(stop_poll);
  co_return value;
}

/// What a segment came to.
struct segment_end {
  bool is_overdue = false;
  std::optional<checkpoint> state = {};
};

/// Returns once the run was asked to stop and can't wait any longer for the update or the
/// checkpoint under way. A fifth of stop_limit is left for the end of the program.
task<segment_end> once_overdue(training_run& run) {
  co_await once_stopped(run, true);
  co_await sleep_for(run.sys.options().stop_limit / 5 * 4);
  co_return segment_end{.is_overdue = true};
}

/// Serves the roles, which may have to wait for nodes. Returns false if the run was stopped first.
/// A deterministic run doesn't ask meanwhile, since its result would depend on when it asks.
task<bool> serve_unless_stopped(training_run& run, const checkpoint* from) {
  if (run.settings.deterministic || !run.stop_asked) {
    co_await run.serve_roles(from);
    co_return true;
  }
  const auto first = co_await any(serve_roles(run, from), once_stopped(run, false));
  co_return first.value;
}

/// Serves the roles, trains and saves. Of a deterministic run that is stopped inside a segment it
/// saves nothing, because an uninterrupted run does not rest there, so going on from that state
/// would be another run.
task<segment_end> play_segment(training_run& run, const checkpoint* from, std::int64_t until) {
  // What this process has trained so far may have no model yet, so a stop waits for the roles.
  const bool goes_on = from && run.trained_until;
  if (goes_on) {
    co_await run.serve_roles(from);
  } else {
    const bool serves = co_await serve_unless_stopped(run, from);
    if (!serves) co_return segment_end();
  }
  const bool is_over = goes_on && !run.settings.deterministic && run.is_stop_asked();
  if (!is_over) {
    co_await run.make_up_for_stop();
    if (!run.progress.over() && run.progress.owed == 0) co_await run.train_until(until, true);
  }
  if (run.progress.version < until || run.is_stop_asked()) {
    const auto last = co_await run.newest();
    run.keep_last_model(last);
  }
  if (is_over) co_return segment_end();  // It is saved already.
  const bool whole = run.progress.version == until && run.progress.owed == 0;
  if (run.settings.deterministic && !whole && !run.progress.over()) co_return segment_end();
  auto state = co_await run.save();
  co_return segment_end{.state = std::move(state)};
}

/// Returns the state after the segment's last update, or after the last update before a stop.
/// Returns none if the run was stopped before there was a state that it can go on from.
task<std::optional<checkpoint>> train_segment(training_run& run, const checkpoint* from,
                                              std::int64_t until) {
  try {
    auto first = co_await any(play_segment(run, from, until), once_overdue(run));
    if (!first.value.is_overdue) co_return std::move(first.value.state);
  } catch (const call_error& e) {
    if (!is_end_of_segment(run, e)) throw;
    co_return std::nullopt;
  }
  log::warn(
      "the update or the checkpoint under way does not end in time, so it is given up; going on "
      "repeats what was not saved",
      {{"stop_limit", detail::to_text(run.sys.options().stop_limit)}});
  co_await run.keep_published_model();
  co_return std::nullopt;
}

task<run_summary> finish_segment(training_run& run, const checkpoint* from) {
  co_await run.serve_roles(from);
  co_await run.make_up_for_stop();
  co_return co_await run.conclude();
}

/// The number of attempts at one segment while a data-parallel trainer loses ranks.
constexpr int failures_max = 10;

task<std::optional<run_summary>> finish_whole(training_run& run) {
  auto summary = co_await run.train_from_the_start();
  co_return summary;
}

/// Runs without checkpoints. The result has no summary if the run is stopped, and no run directory
/// if it is stopped before it trained.
task<run_result> run_whole(training_run& run) {
  std::optional<run_summary> summary;
  try {
    auto first = co_await any(finish_whole(run), once_stopped(run, std::optional<run_summary>()));
    summary = std::move(first.value);
  } catch (const call_error& e) {
    if (!is_stop(run, e)) throw;
  }
  if (!summary && !run.serves()) co_return run_result{};
  if (!summary) co_await run.keep_model_of_now();
  co_return run_result{.summary = std::move(summary),
                       .run_directory = run.directory.path().string(),
                       .steps = run.progress.steps,
                       .unwritten = {run.unwritten.begin(), run.unwritten.end()}};
}

class segments {
 public:
  segments(const algorithm& what, run_output output, const run_options& options)
      : what_(what),
        settings_(what.settings),
        output_(std::move(output)),
        options_(options),
        metrics_(registry()) {}

  run_result run(std::optional<checkpoint> from) {
    const auto every = settings_.checkpoint.every_updates;
    if (from && !output_.directory.empty()) abandoned_ = checkpoints().whole_after(from->step);
    std::int64_t version = from ? progress_of(*from, settings_).version : 0;
    saved_steps_ = from ? from->step : 0;
    int failures = 0;
    while (version < settings_.updates && !(from && progress_of(*from, settings_).over())) {
      if (stop_asked() && !lacks_model(version)) return stopped(from);
      const auto until = std::min(settings_.updates, (version / every + 1) * every);
      std::optional<checkpoint> state;
      try {
        state = in_system(version, what_follows::another_run, [&](training_run& run) {
          auto made = run.sys.run(train_segment(run, from ? &*from : nullptr, until));
          if (run.records) {
            output_.directory = run.directory.path().string();
            output_.lock = run.lock;
          }
          version = run.progress.version;
          version_of_model_ = run.version_of_last_model;
          return made;
        });
      } catch (const collective_error& e) {
        if (++failures == failures_max) throw;
        log::error("training goes on from the last checkpoint",
                   {{"error", e.what()}, {"step", from ? from->step : 0}});
        continue;
      }
      failures = 0;
      if (!state) return stopped(from);
      from = std::move(state);
      write(*from);
    }
    if (stop_asked() && !lacks_model(version)) return stopped(from);
    try {
      return in_system(version, what_follows::nothing,
                       [&](training_run& run) { return finished(run, *from); });
    } catch (const call_error& e) {
      if (e.kind() == error_kind::cancelled && stop_asked()) return stopped(from);
      throw;
    }
  }

  run_result run_without_checkpoints() {
    return in_system(0, what_follows::nothing,
                     [](training_run& run) { return run.sys.run(run_whole(run)); });
  }

 private:
  metrics_registry& registry() {
    if (!options_.metrics) options_.metrics = std::make_shared<metrics_registry>();
    return *options_.metrics;
  }

  bool stop_asked() const { return options_.stop_asked && options_.stop_asked(); }
  /// True if this process has trained since it wrote last_model. A deterministic run is stopped
  /// between two checkpoints only, and has none.
  bool lacks_model(std::int64_t version) const {
    return trained_until_ && !settings_.deterministic && version_of_model_ != version;
  }

  run_result stopped(const std::optional<checkpoint>& at) const {
    return {.summary = std::nullopt,
            .run_directory = output_.directory,
            .steps = at ? at->step : 0,
            .saved_steps = saved_steps_};
  }

  run_result finished(training_run& run, const checkpoint& from) const {
    auto summary = run.sys.run(finish_segment(run, &from));
    run_result result{.summary = summary,
                      .run_directory = summary.run_directory,
                      .steps = summary.steps,
                      .saved_steps = saved_steps_,
                      .unwritten = {run.unwritten.begin(), run.unwritten.end()}};
    if (saved_steps_ != from.step) {
      result.unwritten.push_back(folder_of_checkpoints(run.directory));
    }
    return result;
  }

  enum class what_follows { another_run, nothing };

  /// Calls `play` with a run. Processes and nodes stay for the run that follows.
  template <class Play>
  std::invoke_result_t<const Play&, training_run&> in_system(std::int64_t version,
                                                             what_follows next, const Play& play) {
    // A deterministic system draws the order of turns from its seed, which must depend on nothing
    // that an interruption could change.
    if (!system_ || settings_.deterministic) open_system(version);
    try {
      training_run run(*system_, what_, output_, options_.callbacks, options_.stop_asked);
      run.trained_until = trained_until_;
      auto result = play(run);
      trained_until_ = run.trained_until;
      const bool goes_on =
          next == what_follows::another_run && (!stop_asked() || lacks_model(run.progress.version));
      if (goes_on && !settings_.deterministic) system_->run(system_->stop_all());
      return result;
    } catch (const call_error& e) {
      const bool is_stop = e.kind() == error_kind::cancelled && stop_asked();
      if (options_.on_error && !is_stop) options_.on_error(e);
      system_.reset();
      throw;
    } catch (...) {
      system_.reset();
      throw;
    }
  }

  void open_system(std::int64_t version) {
    system_.reset();
    const auto seed = derived_seed(settings_.seed, "system", {static_cast<std::uint64_t>(version)});
    system_.emplace(
        system_options{.threads = options_.threads > 0 ? options_.threads : settings_.threads,
                       .deterministic = settings_.deterministic,
                       .seed = seed,
                       .faults = settings_.faults,
                       .stop_limit = options_.stop_limit,
                       .listen = options_.listen,
                       .certs = options_.certs,
                       .join_secret = options_.join_secret,
                       .metrics = options_.metrics,
                       .trace = options_.trace});
    if (options_.nodes > 0) system_->run(system_->wait_for_nodes(options_.nodes));
  }

  checkpoint_directory checkpoints() const {
    return checkpoints_of(run_directory::open(output_.directory), settings_);
  }

  void write(const checkpoint& state) {
    const auto began = std::chrono::steady_clock::now();
    try {
      const auto place = checkpoints().write(state, abandoned_);
      abandoned_.clear();
      saved_steps_ = state.step;
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
      metrics_.written(state.step, state.size(), took.count());
      log::debug("a checkpoint was written",
                 {{"path", place.string()}, {"bytes", state.size()}, {"seconds", took.count()}});
    } catch (const std::exception& e) {
      metrics_.not_written();
      log::error("a checkpoint was not written; training goes on and earlier checkpoints are kept",
                 {{"step", state.step}, {"error", e.what()}});
    }
  }

  const algorithm& what_;
  const run_settings& settings_;
  run_output output_;
  run_options options_;
  const checkpoint_metrics metrics_;
  std::int64_t saved_steps_ = 0;  ///< The step of the newest checkpoint on the disk.
  /// The steps of checkpoints after the one that the run goes on from. They are from an abandoned
  /// continuation and are removed when the next checkpoint is written.
  std::vector<std::int64_t> abandoned_;
  /// See training_run::version_of_last_model.
  std::int64_t version_of_model_ = -1;
  /// See training_run::trained_until.
  std::optional<std::chrono::steady_clock::time_point> trained_until_;
  std::optional<system> system_;
};

/// Takes the lock of the run's directory, or checks that a new directory can be made.
void require_place(run_output& output, const run_settings& settings) {
  if (output.directory.empty()) {
    require_run_folder(output.root, settings.algo);
  } else if (!output.lock) {
    output.lock = std::make_shared<const run_lock>(run_directory::open(output.directory));
  }
}

/// Throws run_directory_error if the directory has checkpoints. A run that begins anew there would
/// remove the records of the earlier run and, in time, its checkpoints.
void refuse_checkpoints(const std::string& directory, const run_settings& settings) {
  const auto run = run_directory::open(directory);
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder_of_checkpoints(run), ignored)) return;
  const auto steps = checkpoints_of(run, settings).steps();
  if (steps.empty()) return;
  throw run_directory_error(directory +
                            ": expected a checkpoint to go on from, got none; there is " +
                            "one of step " + std::to_string(steps.front()));
}

/// Throws config_error for a deterministic run on environments that are not, and
/// std::invalid_argument if the run has an initial model that it can't begin with.
void require_start(const algorithm& what, bool goes_on) {
  const auto& settings = what.settings;
  if (settings.deterministic && settings.model.empty()) require_deterministic(settings.env);
  if (settings.deterministic && settings.network.device != "cpu") {
    log::warn(
        "a deterministic run on a GPU has the same weights again on the same model of GPU with the "
        "same driver and libtorch; on others, and on the CPU, it has other weights",
        {{"device", settings.network.device}});
  }
  const auto& init = what.settings.init;
  if (!init) return;
  if (goes_on) {
    throw std::invalid_argument(
        "init: expected none in a run that goes on from a checkpoint, got " + init->path.string());
  }
  require_initial_model(what);
  log::info("the run begins with the weights of a model",
            {{"model", init->path.string()}, {"steps", init->model.steps}});
}

/// Takes a prefix that no other run of `train_in` in the system has: the given one, and where that
/// is taken, this with a number. The prefix is free again once the result is destroyed.
std::shared_ptr<const std::string> take_prefix(const system& sys, const std::string& wanted) {
  static std::mutex mutex;
  static std::set<std::pair<const system*, std::string>> taken;
  std::lock_guard lock(mutex);
  auto prefix = wanted;
  for (int run = 2; !taken.emplace(&sys, prefix).second; ++run) {
    prefix = wanted + "run" + std::to_string(run) + "_";
  }
  return {new std::string(prefix), [&sys](const std::string* held) {
            std::lock_guard lock(mutex);
            taken.erase({&sys, *held});
            delete held;
          }};
}

}  // namespace

run_result train(const algorithm& what, run_output output, const run_options& options,
                 std::optional<checkpoint> from) {
  const auto& settings = what.settings;
  what.check();
  require_start(what, from.has_value());
  if (from) require_kind(*from, kind_of(settings), settings.algo);
  require_place(output, settings);
  if (!output.directory.empty() && !from) refuse_checkpoints(output.directory, settings);
  if (from) {
    output.resumed_from_step = from->step;
  } else {
    tell_idle_options(settings);
    tell_sizes(settings);
  }
  segments run(what, std::move(output), options);
  const bool whole = settings.checkpoint.every_updates == 0;
  auto result = whole ? run.run_without_checkpoints() : run.run(std::move(from));
  if (options.on_result) options.on_result(result);
  return result;
}

task<run_summary> train_in(system& sys, algorithm what, run_output output,
                           run_callbacks callbacks) {
  what.check();
  require_start(what, false);
  if (what.settings.checkpoint.every_updates > 0) {
    throw std::invalid_argument("train_in: expected checkpoint.every_updates 0, got " +
                                std::to_string(what.settings.checkpoint.every_updates) +
                                "; a run in a given system writes no checkpoints, train() does");
  }
  require_place(output, what.settings);
  const auto prefix = take_prefix(sys, output.prefix);
  output.prefix = *prefix;
  training_run run(sys, what, std::move(output), std::move(callbacks));
  tell_idle_options(what.settings);
  tell_sizes(what.settings);
  co_return co_await run.train_from_the_start();
}

std::optional<checkpoint> newest_checkpoint(const std::string& directory,
                                            const run_settings& settings,
                                            metrics_registry& metrics) {
  const auto run = run_directory::open(directory);
  if (settings.checkpoint.every_updates == 0) {
    throw std::invalid_argument(directory +
                                ": expected a run with checkpoints, but its config.json has a "
                                "checkpoint.every_updates of 0");
  }
  const checkpoint_metrics counted(metrics);
  const auto refused = [&](const std::filesystem::path& path, const std::string& why) {
    counted.refused();
    log::warn("a damaged checkpoint was passed over", {{"path", path.string()}, {"error", why}});
  };
  auto from = checkpoints_of(run, settings).load_newest(kind_of(settings), refused);
  if (from && from->config_sha256 != sha256_of_config(settings)) {
    log::warn("the configuration has changed since the checkpoint was written",
              {{"path", run.config_json().string()}});
  }
  return from;
}

bool is_at_goal(const checkpoint& from, const run_settings& settings) {
  return progress_of(from, settings).at_goal;
}

checkpoint_kind kind_of(const run_settings& settings) {
  const auto network = [&] {
    return to_string(shape_for(settings, spec_of(settings.env)), settings.network);
  };
  return {.algorithm = settings.algo,
          .environment = settings.env.id,
          .network = settings.model.empty() ? network() : settings.model};
}

void require_network(const run_settings& settings) {
  const auto spec = spec_of(settings.env);
  auto network = settings.network;
  network.ortho_init = false;  // it is slow for wide layers, and this network is discarded
  make_acting_network(shape_for(settings, spec), network, spec.action_space, 0,
                      make_scripted_policy);
  // The evaluator's environments stay until the evaluation at the end has its own.
  const auto& evaluation = settings.evaluation;
  const int evaluations = evaluation.every_steps > 0 ? 2 : 1;
  require_sessions(settings.env, settings.env.n_envs * settings.env.replicas, evaluations,
                   std::max(evaluation.episodes, evaluation.final_episodes));
}

void require_run_folder(const std::string& root, const std::string& algo) {
  const auto folder = std::filesystem::path(root) / algo;
  std::error_code error;
  try {
    create_folders_durably(folder);
  } catch (const std::system_error& e) {
    error = e.code();
  }
  if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0) {
    error.assign(errno, std::generic_category());
  }
  if (error) {
    throw run_directory_error("cannot create a run directory in " + folder.string() + ": " +
                              error.message() + "; expected a folder that can be written to");
  }
}

std::string run_summary::to_json() const {
  const auto threshold =
      reward_threshold ? nlohmann::ordered_json(*reward_threshold) : nlohmann::ordered_json();
  const auto reason =
      stop_reason.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(stop_reason);
  auto summary = nlohmann::ordered_json{{"algo", algo},
                                        {"env", env},
                                        {"mode", mode == training_mode::sync ? "sync" : "async"},
                                        {"seed", seed},
                                        {"steps", steps},
                                        {"start_s", start_s},
                                        {"wall_s", wall_s},
                                        {"cpu_s", cpu_s},
                                        {"steps_per_s", steps_per_s},
                                        {"eval_mean", eval_mean},
                                        {"eval_std", eval_std},
                                        {"eval_episodes", eval_episodes},
                                        {"solved", solved},
                                        {"reward_threshold", threshold},
                                        {"stopped", stopped},
                                        {"stop_reason", reason},
                                        {"rollouts_failed", rollouts_failed},
                                        {"staleness_mean", staleness_mean},
                                        {"staleness_max", staleness_max},
                                        {"stale_dropped", stale_dropped},
                                        {"stale_dropped_length", stale_dropped_length},
                                        {"overlap_fraction", overlap_fraction},
                                        {"metrics_port", metrics_port},
                                        {"resumed_from_step", resumed_from_step},
                                        {"weights_sha256", weights_sha256},
                                        {"run_directory", run_directory}};
  for (const auto& [name, mean] : eval_agents) summary["eval_agents"][name] = mean;
  return summary.dump();
}

}  // namespace troupe
