// PPO learns on an environment of your own: a corridor with the exit at its right end.
//
// The environment `corridor` is written below; train_in makes all roles.
//
//   ./custom_env
//
// It ends after a few seconds with the return of the learned policy, near 0.92 (1 for the exit,
// -0.01 for each step).

#include <cstdio>
#include <random>

#include "actors/torch/torch_threads.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "runtime/system/run.hpp"

// readme: custom_env
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
    position_ = static_cast<int>(random_() % 5);
    obs[0] = static_cast<float>(position_) / length;
  }

  troupe::step_result step(troupe::action_view action, std::span<float> obs) override {
    position_ = std::max(0, position_ + (action.discrete() == 1 ? 1 : -1));
    obs[0] = static_cast<float>(position_) / length;
    const bool out = position_ == length;
    return {.reward = out ? 1.0 : -0.01, .terminated = out, .truncated = false};
  }

 private:
  static constexpr int length = 10;
  std::minstd_rand random_;
  int position_ = 0;
};
// readme: end

troupe::task<> main_task(troupe::system& sys) {
  troupe::ppo_config config;
  config.env = {.id = "Corridor-v0", .n_envs = 8};
  config.total_steps = 20'000;
  config.rollout.n_steps = 128;
  const auto result = co_await troupe::train_in(sys, config, {.root = "runs"});
  std::printf("Corridor-v0: return %.2f%s: %s\n", result.eval_mean, result.solved ? ", solved" : "",
              result.run_directory.c_str());
  if (!result.solved) throw std::runtime_error("the corridor was not learned");
}

int main(int argc, char** argv) {
  troupe::use_one_torch_thread();
  // It is registered here, since the processes and nodes that host it begin here, too.
  troupe::register_environment("Corridor-v0", [] { return std::make_unique<corridor>(); });
  return troupe::run(argc, argv, main_task);
}
