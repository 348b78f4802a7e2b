// MAPPO learns on an environment of your own with two agents, in both modes.
//
// Two carriers lift a table: it rises only if both lift in the same step, and each sees how tired
// the other one is. The environment `carry` is written below. train_in makes all roles; each
// carrier has a policy of its own, which is a service.
//
//   ./two_agents
//
// It ends after some seconds with the mean return of a carrier in both modes, near 8, which is the
// most.

#include <algorithm>
#include <cstdio>
#include <random>

#include "actors/environments/multi_agent_environment.hpp"
#include "actors/torch/torch_threads.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/multi_agent/on_policy/mappo/mappo.hpp"
#include "runtime/system/run.hpp"

// readme: two_agents
/// Lifting together gives 1 to both, and lifting alone costs 0.2. Both must rest for a step after
/// each lift, or nothing rises. One of them begins tired, at random.
class carry final : public troupe::multi_agent_environment {
 public:
  troupe::env_spec spec() const override {
    const troupe::space tired = troupe::spaces::box(0, 1, {2});  // oneself, the other one
    const troupe::space rest_or_lift = troupe::spaces::discrete(2);
    return troupe::with_joint_spaces({.id = "Carry-v0",
                                      .max_episode_steps = 16,
                                      .agents = {{"left", tired, rest_or_lift},  //
                                                 {"right", tired, rest_or_lift}},
                                      .state_space = tired});
  }

  void begin(std::optional<std::uint64_t> seed, troupe::joint_observation obs) override {
    if (seed) random_.seed(static_cast<std::minstd_rand::result_type>(*seed));
    const bool left = random_() % 2 == 0;
    tired_[0] = left ? 1.0f : 0.0f;
    tired_[1] = left ? 0.0f : 1.0f;
    show(obs);
  }

  void act(troupe::joint_action actions, troupe::joint_observation obs,
           std::span<troupe::agent_step> results) override {
    bool lifts[2], strong = tired_[0] + tired_[1] == 0;
    for (std::size_t i = 0; i < 2; ++i) lifts[i] = actions[i].discrete() == 1;
    for (std::size_t i = 0; i < 2; ++i) {
      if (lifts[i]) results[i].reward = lifts[1 - i] && strong ? 1.0 : -0.2;
      tired_[i] = lifts[i] ? 1.0f : 0.0f;
    }
    show(obs);
  }

 private:
  void show(troupe::joint_observation obs) const {
    for (std::size_t i = 0; i < 2; ++i) {
      obs[i][0] = obs.state()[i] = tired_[i];
      obs[i][1] = tired_[1 - i];
    }
  }

  std::minstd_rand random_;
  float tired_[2] = {0, 0};
};
// readme: end

troupe::task<> main_task(troupe::system& sys) {
  for (const auto mode : {troupe::training_mode::sync, troupe::training_mode::async}) {
    troupe::mappo_config config;
    config.env = {.id = "Carry-v0", .n_envs = 16};
    config.mode = mode;
    config.total_steps = 60'000;
    config.rollout.n_steps = 16;
    config.trainer.batch_size = 128;
    config.agents.share = false;  // a policy for each carrier
    config.evaluation.every_steps = 0;
    const auto result = co_await troupe::train_in(sys, config, {.root = "runs"});
    const bool sync = mode == troupe::training_mode::sync;
    std::printf("Carry-v0, %s: return %.2f of a carrier\n", sync ? "sync" : "async",
                result.eval_mean);
    if (result.eval_mean < 7) throw std::runtime_error("the carriers did not learn");
  }
}

int main(int argc, char** argv) {
  troupe::use_one_torch_thread();
  // It is registered here, since the processes and nodes that host it begin here, too.
  troupe::register_environment<carry>("Carry-v0");
  return troupe::run(argc, argv, main_task);
}
