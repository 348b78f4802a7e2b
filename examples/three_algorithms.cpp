// PPO, DQN and SAC are trained one after the other. Each has its configuration, and the call is the
// same.
//
// train_in makes the algorithm's roles: environments, policies, replay, trainer, weights, evaluator
// and recorder.
//
//   ./three_algorithms
//
// It takes a second, which is too short to solve anything, and prints three lines of results. The
// run directories are in runs/.

#include <cstdio>

#include "actors/torch/torch_threads.hpp"
#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "runtime/system/run.hpp"

troupe::task<> report(troupe::task<troupe::run_summary> run) {
  const auto result = co_await std::move(run);
  std::printf("%s on %s: %lld steps, return %.1f, %s\n", result.algo.c_str(), result.env.c_str(),
              static_cast<long long>(result.steps), result.eval_mean, result.run_directory.c_str());
}

// readme: three_algorithms
troupe::task<> train_three(troupe::system& sys) {
  troupe::ppo_config ppo;  // Stable-Baselines3's defaults, on CartPole-v1
  ppo.total_steps = 8'192;
  ppo.env.n_envs = 4;
  ppo.rollout.n_steps = 512;
  co_await report(troupe::train_in(sys, troupe::algorithm_with(ppo), {.root = "runs"}));

  troupe::dqn_config dqn;  // the same, for DQN
  dqn.total_steps = 4'000;
  dqn.trainer.lr = 2.3e-3;
  dqn.collection.learning_starts = 1'000;
  co_await report(troupe::train_in(sys, troupe::algorithm_with(dqn), {.root = "runs"}));

  troupe::sac_config sac;  // on Pendulum-v1
  sac.total_steps = 1'000;
  sac.policy.hidden = {64, 64};
  sac.mode = troupe::training_mode::async;  // collectors go on while the trainer trains
  co_await report(troupe::train_in(sys, troupe::algorithm_with(sac), {.root = "runs"}));
}
// readme: end

int main(int argc, char** argv) {
  troupe::use_one_torch_thread();
  return troupe::run(argc, argv, train_three);
}
