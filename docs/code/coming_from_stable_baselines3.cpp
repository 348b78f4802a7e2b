// The code of docs/coming_from/stable_baselines3.md.

// readme: learn
#include "algorithms/on_policy/ppo/ppo.hpp"

troupe::task<> learn(troupe::system& sys) {
  troupe::ppo_config config;
  config.env.id = "CartPole-v1";
  config.trainer.lr = 1e-3;
  config.rollout.n_steps = 256;
  config.seed = 7;
  config.total_steps = 100'000;
  co_await troupe::train_in(sys, troupe::algorithm_with(config), {.root = "runs"});
}
// readme: end
