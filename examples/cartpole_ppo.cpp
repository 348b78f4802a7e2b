// PPO learns to balance a pole, twice: once on-policy, and once with rollouts that go on while the
// trainer trains. The episode function is the same (generate_rollout in
// algorithms/on_policy/rollout.cpp); only the loop around it differs.
//
// train_in makes the roles: environments, policies, replay, trainer, weights, evaluator and
// recorder.
//
//   ./cartpole_ppo
//
// Each training ends as soon as an evaluation reaches the threshold of a solved task. It takes a
// few seconds and prints two lines of results. The run directories are in runs/ppo/.

#include <cstdio>

#include "actors/torch/torch_threads.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "runtime/system/run.hpp"

namespace loops = troupe::loops;

// readme: callbacks
troupe::task<loops::verdict> tell(loops::progress now) {  // after each update
  if (now.updates % 10 == 0) std::printf("%lld steps\n", static_cast<long long>(now.steps));
  co_return loops::verdict::go_on;
}

// A recorded value is in progress.csv, in TensorBoard, on the page and in /metrics.
troupe::task<loops::verdict> record_minutes(loops::progress now, troupe::run_control& control) {
  control.record("custom/minutes", now.seconds / 60);
  co_return loops::verdict::go_on;
}

const troupe::run_callbacks own{
    .on_update_end = tell, .on_update = record_minutes, .stop = {loops::score_reached(475)}};
// readme: end

// readme: train_in
troupe::task<> learn(troupe::system& sys, troupe::training_mode mode) {
  troupe::ppo_config config;  // Stable-Baselines3's defaults, on CartPole-v1
  config.mode = mode;
  config.total_steps = 60'000;
  config.seed = 1;
  const auto result = co_await troupe::train_in(sys, config, {.root = "runs"}, own);
  std::printf("%s: %.0f steps/s, return %.1f, staleness up to %lld: %s\n",
              mode == troupe::training_mode::sync ? "sync" : "async", result.steps_per_s,
              result.eval_mean, static_cast<long long>(result.staleness_max),
              result.run_directory.c_str());
}
// readme: end

troupe::task<> main_task(troupe::system& sys) {
  co_await learn(sys, troupe::training_mode::sync);
  co_await learn(sys, troupe::training_mode::async);
}

int main(int argc, char** argv) {
  troupe::use_one_torch_thread();
  return troupe::run(argc, argv, main_task);
}
