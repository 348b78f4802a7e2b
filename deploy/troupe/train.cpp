#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>

#include "actors/env/registry.hpp"
#include "actors/policy/shape_of.hpp"
#include "actors/torch_threads.hpp"
#include "algorithms/ppo/ppo.hpp"
#include "deploy/troupe/commands.hpp"
#include "runtime/run.hpp"

namespace troupe::command {

namespace {

/// The file's configuration, with the command line's options and then its overrides on top.
ppo_config resolve(const train_arguments& arguments) {
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
  overrides.insert(overrides.end(), arguments.overrides.begin(), arguments.overrides.end());
  return parse_config<ppo_config>(load_config(arguments.config_file, overrides));
}

void print_for_people(const ppo_summary& s) {
  std::printf("%s after %lld steps in %.1f s (%.0f steps/s): %.1f +/- %.1f over %lld episodes%s\n",
              s.env.c_str(), static_cast<long long>(s.steps), s.wall_s, s.steps_per_s, s.eval_mean,
              s.eval_std, static_cast<long long>(s.eval_episodes), s.solved ? ", solved" : "");
  std::printf("run directory: %s\n", s.run_directory.c_str());
}

/// What SIGINT and SIGTERM cancel: the run that goes on. Where none does, they end the process.
class interruptible {
 public:
  void begin(system& sys) { set(&sys); }
  void end() { set(nullptr); }
  void interrupt() {
    std::lock_guard lock(mutex_);
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
};

/// From here on there is something to cancel.
task<ppo_summary> train_interruptibly(system& sys, interruptible& signals, ppo_config config,
                                      ppo_output output) {
  signals.begin(sys);
  co_return co_await train_ppo(sys, std::move(config), std::move(output));
}

ppo_summary run(system& sys, interruptible& signals, ppo_config config, ppo_output output) {
  struct at_the_end {
    interruptible& signals;
    ~at_the_end() { signals.end(); }
  } const ended{signals};
  return sys.run(train_interruptibly(sys, signals, std::move(config), std::move(output)));
}

}  // namespace

int train(const train_arguments& arguments) {
  ppo_config config;
  try {
    require_algorithm(arguments.algo);
    config = resolve(arguments);
    shape_of(make_vector_environment(config.env.id, 1)->spec());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "troupe train: %s\n", e.what());
    return 2;
  }

  use_one_torch_thread();
  interruptible running;
  signal_watch signals([&] { running.interrupt(); });
  try {
    system sys({.threads = arguments.threads, .seed = config.seed});
    const auto metrics = serve_metrics(sys, arguments.metrics_port, arguments.metrics_port_asked);
    ppo_output output{.root = arguments.runs,
                      .table = arguments.verbose,
                      .progress_bar = arguments.progress_bar,
                      .metrics_port = metrics ? metrics->port() : 0};
    const auto summary = run(sys, running, config, output);
    print_for_people(summary);
    if (arguments.json) std::puts(summary.to_json().c_str());
    return 0;
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
