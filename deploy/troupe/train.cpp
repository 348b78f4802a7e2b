#include <cstdio>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "actors/env/registry.hpp"
#include "actors/torch_threads.hpp"
#include "algorithms/ppo/ppo.hpp"
#include "deploy/troupe/commands.hpp"
#include "runtime/run.hpp"

namespace troupe::command {

namespace {

/// The file's configuration, with the command line's options and then its overrides on top.
ppo_config resolve(const train_arguments& arguments) {
  std::vector<std::string> overrides;
  const auto set = [&](const char* path, const auto& value) {
    if (value) overrides.push_back(std::string(path) + "=" + nlohmann::json(*value).dump());
  };
  set("env.id", arguments.env);
  set("total_steps", arguments.total_steps);
  set("seed", arguments.seed);
  set("mode", arguments.mode);
  overrides.insert(overrides.end(), arguments.overrides.begin(), arguments.overrides.end());
  return parse_config<ppo_config>(load_config(arguments.config_file, overrides));
}

void print_for_people(const ppo_summary& s) {
  std::printf("%s after %lld steps in %.1f s (%.0f steps/s): %.1f +/- %.1f over %lld episodes%s\n",
              s.env.c_str(), static_cast<long long>(s.steps), s.wall_s, s.steps_per_s, s.eval_mean,
              s.eval_std, static_cast<long long>(s.eval_episodes), s.solved ? ", solved" : "");
  std::printf("run directory: %s\n", s.run_directory.c_str());
}

}  // namespace

int train(const train_arguments& arguments) {
  ppo_config config;
  try {
    require_algorithm(arguments.algo);
    config = resolve(arguments);
    make_vector_environment(config.env.id, 1);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "troupe train: %s\n", e.what());
    return 2;
  }

  use_one_torch_thread();
  system* running = nullptr;
  std::mutex mutex;
  const auto set_running = [&](system* sys) {
    std::lock_guard lock(mutex);
    running = sys;
  };
  signal_watch signals([&] {
    std::lock_guard lock(mutex);
    if (running) running->cancel();
  });
  try {
    system sys({.threads = arguments.threads, .seed = config.seed});
    const auto metrics = serve_metrics(sys, arguments.metrics_port, arguments.metrics_port_asked);
    ppo_output output{.root = arguments.runs,
                      .table = arguments.verbose,
                      .progress_bar = arguments.progress_bar,
                      .metrics_port = metrics ? metrics->port() : 0};
    set_running(&sys);
    std::optional<ppo_summary> summary;
    std::exception_ptr error;
    try {
      summary = sys.run(train_ppo(sys, config, output));
    } catch (...) {
      error = std::current_exception();
    }
    set_running(nullptr);
    if (error) std::rethrow_exception(error);
    print_for_people(*summary);
    if (arguments.json) std::puts(summary->to_json().c_str());
    return 0;
  } catch (const port_busy& e) {
    std::fprintf(stderr, "troupe train: %s\n", e.what());
    return 2;
  } catch (const call_error& e) {
    std::fprintf(stderr, "troupe train: %s\n", e.what());
    return e.kind() == error_kind::cancelled ? 130 : 1;
  }
}

}  // namespace troupe::command
