// A program of your own with the commands of `troupe`. You write an environment and an algorithm,
// and troupe::main adds training, checkpoints, metrics, nodes and worker processes.
//
// The environment `corridor` is written below; the roles are the algorithm's.
//
//   ./own_program list
//   ./own_program train -n 20000 checkpoint.every_updates=1
//   ./own_program eval runs/ppo/Corridor-v0_1
//   ./own_program train --algo eager_ppo --env CartPole-v1 -n 50000
//
// `train` trains on the corridor unless --env names another environment. It ends in seconds with a
// return near 0.93 (1 for the exit, -0.01 for each step).

#include <algorithm>
#include <random>

#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/program/main.hpp"

/// A row of ten places, of which the last is the exit.
class corridor final : public troupe::environment {
 public:
  troupe::env_spec spec() const override {
    return {.id = "Corridor-v0",
            .observation_space = troupe::spaces::box(0.0f, 1.0f, {1}),  // the agent's place
            .action_space = troupe::spaces::discrete(2),                // left, right
            .max_episode_steps = 100,
            .reward_threshold = 0.9};
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) random_.seed(*seed);
    place_ = static_cast<int>(random_() % 5);
    obs[0] = static_cast<float>(place_) / 10;
  }
  troupe::step_result step(troupe::action_view action, std::span<float> obs) override {
    place_ = std::max(0, place_ + (action.discrete() == 1 ? 1 : -1));
    obs[0] = static_cast<float>(place_) / 10;
    return {.reward = place_ == 10 ? 1.0 : -0.01, .terminated = place_ == 10, .truncated = false};
  }

 private:
  std::minstd_rand random_;
  int place_ = 0;
};

// readme: own_program
/// PPO with short rollouts of few environments.
troupe::ppo_config eager() {
  troupe::ppo_config config;
  config.env.n_envs = 8;
  config.rollout.n_steps = 128;
  return config;
}

int main(int argc, char** argv) {
  return troupe::main(argc, argv,
                      {.help = "Trains agents to leave a corridor.",
                       .environments = {troupe::environment_of<corridor>("Corridor-v0")},
                       .algorithms = {troupe::algorithm_of<troupe::ppo_config>(
                           "eager_ppo", "PPO on short rollouts", eager())}});
}
// readme: end
