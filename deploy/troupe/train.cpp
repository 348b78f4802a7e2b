#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>

#include "actors/env/registry.hpp"
#include "actors/recorder/run_directory.hpp"
#include "actors/torch_threads.hpp"
#include "deploy/troupe/algorithms.hpp"
#include "deploy/troupe/commands.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/run.hpp"

namespace troupe::command {

namespace {

/// Throws std::invalid_argument if a word that is no override is an environment's name.
void refuse_names(const std::vector<std::string>& overrides) {
  const auto known = known_environments();
  for (const auto& word : overrides) {
    if (std::ranges::find(known, word) == known.end()) continue;
    throw std::invalid_argument("expected an override such as trainer.lr=3e-4, got " + word +
                                "; did you mean --env " + word + "?");
  }
}

/// The file's configuration, with the command line's options and then its overrides on top.
nlohmann::json resolve(const train_arguments& arguments) {
  refuse_names(arguments.overrides);
  std::vector<std::string> overrides;
  const auto set_number = [&](const char* path, const std::optional<std::string>& value) {
    if (value) overrides.push_back(std::string(path) + "=" + *value);
  };
  const auto set_text = [&](const char* path, const std::optional<std::string>& value) {
    if (value) overrides.push_back(std::string(path) + "=" + nlohmann::json(*value).dump());
  };
  set_text("env.id", arguments.env);
  set_number("total_steps", arguments.total_steps);
  set_number("seed", arguments.seed);
  set_text("mode", arguments.mode);
  if (arguments.deterministic) overrides.emplace_back("deterministic=true");
  if (arguments.faults) fault_plan::parse(*arguments.faults);  // says what is wrong with it
  set_text("faults", arguments.faults);
  overrides.insert(overrides.end(), arguments.overrides.begin(), arguments.overrides.end());
  return load_config(arguments.config_file, overrides);
}

void print_for_people(const training_summary& s) {
  std::string verdict;
  if (s.solved) verdict = ", solved";
  if (s.reward_threshold && !s.solved) {
    verdict = fmt::format(", NOT solved: that takes {}", *s.reward_threshold);
  }
  std::printf("%s after %lld steps in %.1f s (%.0f steps/s): %.1f +/- %.1f over %lld episodes%s\n",
              s.env.c_str(), static_cast<long long>(s.steps), s.wall_s, s.steps_per_s, s.eval_mean,
              s.eval_std, static_cast<long long>(s.eval_episodes), verdict.c_str());
  std::printf("run directory: %s\n", s.run_directory.c_str());
}

/// What a run begins with.
struct beginning {
  trainable what;
  std::optional<checkpoint> from;
};

/// Throws what is wrong with the arguments, the configuration or the run to be resumed.
beginning begin(const train_arguments& arguments, metrics_registry& metrics) {
  if (!arguments.resume.empty()) {
    const auto stored = run_directory::open(arguments.resume).config_json();
    const auto document = read_json_file(stored);
    auto what = algorithm_of(document).configure(document);
    auto from = newest_checkpoint(arguments.resume, what.settings, metrics);
    return {std::move(what), std::move(from)};
  }
  const auto document = resolve(arguments);
  auto what = algorithm_of(document, arguments.algo).configure(document);
  what.check();
  return {std::move(what), std::nullopt};
}

/// What the first SIGINT or SIGTERM does: a run that keeps checkpoints, or is deterministic, stops
/// after its update; any other is cancelled. Where none goes on the process ends.
class interruptible {
 public:
  void begin(system& sys) { set(&sys); }
  void end() { set(nullptr); }
  /// From now on there is somebody who asks.
  void stop_gently() { gentle_ = true; }
  bool stop_asked() const { return asked_; }

  void interrupt() {
    std::lock_guard lock(mutex_);
    asked_ = true;
    if (gentle_) return;
    if (!running_) _exit(130);
    running_->cancel();
  }

 private:
  void set(system* sys) {
    std::lock_guard lock(mutex_);
    running_ = sys;
  }

  std::mutex mutex_;
  system* running_ = nullptr;
  std::atomic<bool> gentle_{false};
  std::atomic<bool> asked_{false};
};

/// From here on there is something to cancel.
task<training_summary> train_interruptibly(system& sys, interruptible& signals, trainable what,
                                           training_output output) {
  signals.begin(sys);
  co_return co_await train_in(sys, std::move(what), std::move(output));
}

training_result run_in_one(interruptible& signals, const trainable& what,
                           const training_output& output, const training_run_options& options) {
  const auto& settings = what.settings;
  system sys({.threads = options.threads > 0 ? options.threads : settings.threads,
              .seed = settings.seed,
              .metrics = options.metrics});
  struct at_the_end {
    interruptible& signals;
    ~at_the_end() { signals.end(); }
  } const ended{signals};
  auto summary = sys.run(train_interruptibly(sys, signals, what, output));
  return {summary, summary.run_directory, summary.steps};
}

int report_stopped(const training_result& result) {
  if (result.run_directory.empty()) return 130;  // before there was anything to go on with
  std::printf("stopped after %lld steps; go on with: troupe train --resume %s\n",
              static_cast<long long>(result.steps), result.run_directory.c_str());
  return 0;
}

int report(const train_arguments& arguments, const training_result& result) {
  if (!result.summary) return report_stopped(result);
  print_for_people(*result.summary);
  if (arguments.json) std::puts(result.summary->to_json().c_str());
  return 0;
}

int run(const train_arguments& arguments, beginning start, const training_run_options& options,
        interruptible& signals) {
  const auto server =
      serve_metrics(*options.metrics, arguments.metrics_port, arguments.metrics_port_asked);
  const training_output output{.root = arguments.runs,
                               .directory = arguments.resume,
                               .table = arguments.verbose,
                               .progress_bar = arguments.progress_bar,
                               .metrics_port = server ? server->port() : 0};
  if (server) {
    log::info("metrics are served",
              {{"page", fmt::format("http://localhost:{}/", server->port())}});
  }
  const auto& settings = start.what.settings;
  if (settings.checkpoint.every_updates == 0 && !settings.deterministic) {
    return report(arguments, run_in_one(signals, start.what, output, options));
  }
  signals.stop_gently();
  return report(arguments, run_training(start.what, output, options, std::move(start.from)));
}

}  // namespace

int train(const train_arguments& arguments) {
  const auto metrics = std::make_shared<metrics_registry>();
  beginning start;
  try {
    start = begin(arguments, *metrics);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "troupe train: %s\n", e.what());
    return 2;
  }

  use_one_torch_thread();
  interruptible running;
  signal_watch signals([&] { running.interrupt(); });
  const training_run_options options{.threads = arguments.threads,
                                     .metrics = metrics,
                                     .stop_asked = [&] { return running.stop_asked(); },
                                     .callbacks = {}};
  try {
    return run(arguments, std::move(start), options, running);
  } catch (const port_busy& e) {
    std::fprintf(stderr, "troupe train: %s\n", e.what());
    return 2;
  } catch (const run_directory_error& e) {
    std::fprintf(stderr, "troupe train: %s\n", e.what());
    return 2;
  } catch (const call_error& e) {
    std::fprintf(stderr, "troupe train: %s\n", e.what());
    return e.kind() == error_kind::cancelled ? 130 : 1;
  }
}

}  // namespace troupe::command
