// The code of docs/guides/checkpoints.md. examples/resume.cpp is a whole program of it.

// readme: resume
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/run/open_run.hpp"
#include "runtime/metrics/registry.hpp"

/// Trains until it is asked to stop, as a signal would.
troupe::run_result begin(troupe::ppo_config config) {
  config.checkpoint.every_updates = 4;
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
