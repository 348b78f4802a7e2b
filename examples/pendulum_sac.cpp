// SAC learns to swing a pendulum up, twice: once with an update after each step, and once with
// collectors that go on while the trainer trains. The episode function is the same
// (generate_transitions in algorithms/off_policy/transition_rollout.cpp); only the loop around it
// differs.
//
// train_in makes the roles: collectors (environments and the acting network), the replay of
// transitions, trainer, weights, evaluator and recorder.
//
//   ./pendulum_sac
//
// It ends after some seconds with two lines of results. The run directories are in runs/sac/.

#include <cstdio>

#include "actors/torch/torch_threads.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "runtime/system/run.hpp"

troupe::task<> learn(troupe::system& sys, troupe::training_mode mode) {
  troupe::sac_config config;  // Stable-Baselines3's defaults, on Pendulum-v1
  config.mode = mode;
  config.total_steps = 6'000;
  config.policy.hidden = {64, 64};
  config.trainer.lr = 1e-3;
  config.trainer.batch_size = 100;
  if (mode == troupe::training_mode::async) {
    // Messages between threads cost time, so this takes eight steps and then eight gradient steps.
    config.collection.train_freq = 8;
    config.collection.gradient_steps = -1;
  }
  const auto result =
      co_await troupe::train_in(sys, troupe::algorithm_with(config), {.root = "runs"});
  std::printf("%s: %.0f steps/s, return %.1f, staleness up to %lld: %s\n",
              mode == troupe::training_mode::sync ? "sync" : "async", result.steps_per_s,
              result.eval_mean, static_cast<long long>(result.staleness_max),
              result.run_directory.c_str());
}

troupe::task<> main_task(troupe::system& sys) {
  co_await learn(sys, troupe::training_mode::sync);
  co_await learn(sys, troupe::training_mode::async);
}

int main(int argc, char** argv) {
  troupe::use_one_torch_thread();
  return troupe::run(argc, argv, main_task);
}
