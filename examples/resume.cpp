// A PPO run is stopped in the middle, resumed from its newest checkpoint, and ends with the same
// weights as a run that was not stopped.
//
// The roles are PPO's (algorithms/on_policy/ppo/ppo.hpp). train makes them anew after each
// checkpoint, whether or not the run was stopped there, so that both runs end alike.
//
//   ./resume
//
// It takes a second and prints three lines of results. The run directories are in runs/ppo/.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "actors/torch/torch_threads.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/run/open_run.hpp"
#include "runtime/metrics/registry.hpp"

troupe::ppo_config short_run() {
  troupe::ppo_config config;
  config.total_steps = 8'192;
  config.rollout.n_steps = 256;
  config.evaluation.final_episodes = 5;
  config.deterministic = true;  // otherwise both runs learn, but not the same weights
  config.checkpoint.every_updates = 4;
  return config;
}

// readme: resume
/// Trains until it is asked to stop, as a signal would.
troupe::run_result begin(const troupe::ppo_config& config) {
  int asked = 0;
  const auto stop = [&] { return ++asked > 10; };  // after each update, and each checkpoint
  return troupe::train(config, {.root = "runs"}, {.stop_asked = stop});
}

/// Goes on with any run that keeps checkpoints, in this process or another.
troupe::run_result go_on(const std::string& run_directory) {
  troupe::metrics_registry metrics;  // counts damaged checkpoints
  auto run = troupe::open_run<troupe::ppo_config>(run_directory, metrics);
  return troupe::train(run.config, {.directory = run_directory}, {}, std::move(run.from));
}
// readme: end

int main(int argc, char** argv) {
  CLI::App app("Stops a run and resumes it.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  troupe::use_one_torch_thread();
  const auto whole = troupe::train(short_run(), {.root = "runs"}, {}).summary.value();
  const auto stopped = begin(short_run());
  const auto resumed = go_on(stopped.run_directory).summary.value();
  std::printf("stopped after %lld steps, resumed from %lld, ended after %lld\n",
              static_cast<long long>(stopped.steps),
              static_cast<long long>(resumed.resumed_from_step),
              static_cast<long long>(resumed.steps));
  std::printf("whole:   weights %s\nresumed: weights %s\n", whole.weights_sha256.c_str(),
              resumed.weights_sha256.c_str());
  return whole.weights_sha256 == resumed.weights_sha256 ? EXIT_SUCCESS : EXIT_FAILURE;
}
