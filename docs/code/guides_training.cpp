// The code of docs/guides/training.md that is in no example.

#include <cstdio>

#include "algorithms/loops/callbacks.hpp"
#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/program/main.hpp"
#include "algorithms/run/initial_model.hpp"
#include "algorithms/run/run_control.hpp"
#include "runtime/system/run.hpp"

// readme: train_three
#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "runtime/system/run.hpp"

troupe::task<> train_three(troupe::system& sys) {
  troupe::ppo_config ppo;  // Stable-Baselines3's defaults, on CartPole-v1
  ppo.total_steps = 8'192;
  ppo.env.n_envs = 4;
  ppo.rollout.n_steps = 512;
  const auto first = co_await troupe::train_in(sys, ppo, {.root = "runs"});
  std::printf("ppo: %.1f, in %s\n", first.eval_mean, first.run_directory.c_str());

  troupe::dqn_config dqn;  // the same, for DQN
  dqn.total_steps = 4'000;
  dqn.trainer.lr = 2.3e-3;
  dqn.collection.learning_starts = 1'000;
  const auto second = co_await troupe::train_in(sys, dqn, {.root = "runs"});
  std::printf("dqn: %.1f, in %s\n", second.eval_mean, second.run_directory.c_str());

  troupe::sac_config sac;  // on Pendulum-v1
  sac.total_steps = 1'000;
  sac.policy.hidden = {64, 64};
  sac.mode = troupe::training_mode::async;  // collectors go on while the trainer trains
  const auto third = co_await troupe::train_in(sys, sac, {.root = "runs"});
  std::printf("sac: %.1f, in %s\n", third.eval_mean, third.run_directory.c_str());
}

int main(int argc, char** argv) { return troupe::run(argc, argv, train_three); }
// readme: end

namespace docs::initial {
// readme: init
#include "algorithms/run/initial_model.hpp"

troupe::task<> fine_tune(troupe::system& sys, troupe::ppo_config config) {
  config.trainer.lr = 1e-4;
  auto what = troupe::algorithm_with(config);
  what.settings.init = troupe::read_initial_model("runs/ppo/CartPole-v1_1/best_model");
  co_await troupe::train_in(sys, what, {.root = "runs"});
}
// readme: end
}  // namespace docs::initial

namespace docs::callbacks {
// readme: callbacks
#include "algorithms/loops/callbacks.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"

namespace loops = troupe::loops;

troupe::task<loops::verdict> tell(loops::progress now) {  // after each update
  if (now.updates % 10 == 0) std::printf("%lld steps\n", static_cast<long long>(now.steps));
  co_return loops::verdict::go_on;
}

troupe::task<> learn(troupe::system& sys, const troupe::ppo_config& config) {
  const troupe::run_callbacks own{.on_update_end = tell, .stop = {loops::score_reached(475)}};
  co_await troupe::train_in(sys, config, {.root = "runs"}, own);
}
// readme: end
}  // namespace docs::callbacks

namespace docs::control {
// readme: control
#include "algorithms/run/run_control.hpp"
#include "algorithms/run/train.hpp"

namespace loops = troupe::loops;

troupe::task<loops::verdict> halve_at_100(loops::progress now, troupe::run_control& control) {
  if (now.updates == 100) control.set_learning_rate(control.learning_rate() / 2);
  control.record("custom/minutes", now.seconds / 60);
  co_return loops::verdict::go_on;
}

const troupe::run_callbacks steering{.on_update = halve_at_100};
// readme: end
}  // namespace docs::control

namespace docs::program {
// readme: program
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/program/main.hpp"

/// PPO with short rollouts of several environments.
troupe::ppo_config eager() {
  troupe::ppo_config config;
  config.env.n_envs = 8;
  config.rollout.n_steps = 128;
  return config;
}

int main(int argc, char** argv) {
  return troupe::main(argc, argv,
                      {.help = "Trains agents on CartPole.",
                       .algorithms = {troupe::algorithm_of<troupe::ppo_config>(
                           "eager_ppo", "PPO on short rollouts", eager())}});
}
// readme: end
}  // namespace docs::program
