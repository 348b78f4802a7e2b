// The code of docs/guides/curriculum.md that is in no example.

#include <algorithm>
#include <cstdio>

#include "actors/worlds/classic_control/cartpole.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"

// readme: levels
#include "actors/worlds/classic_control/cartpole.hpp"
#include "actors/worlds/registry.hpp"

/// A pole that must be balanced until the time of its level is up.
class timed_cartpole final : public troupe::environment {
 public:
  troupe::env_spec spec() const override {
    auto spec = pole_.spec();
    spec.levels = std::size(time_limits);
    return spec;
  }

  void set_level(std::size_t level) override { level_ = level; }

  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    pole_.reset(seed, obs);
    steps_ = 0;
  }

  troupe::step_result step(troupe::action_view action, std::span<float> obs) override {
    auto result = pole_.step(action, obs);
    result.truncated = ++steps_ == time_limits[level_];
    result.success = !result.terminated;
    return result;
  }

 private:
  static constexpr std::int64_t time_limits[] = {50, 100, 200, 350, 500};  // steps of 20 ms

  troupe::cartpole pole_;
  std::size_t level_ = 0;
  std::int64_t steps_ = 0;
};
// readme: end

namespace docs::curriculum {
// readme: curriculum
#include "algorithms/on_policy/ppo/ppo.hpp"

troupe::task<> learn_by_levels(troupe::system& sys) {
  troupe::ppo_config config;
  config.env = {.id = "TimedCartPole-v0", .n_envs = 8};
  config.env.curriculum = {.promote_at = 0.9, .window = 20, .stop_when_mastered = true};
  const auto result = co_await troupe::train_in(sys, config, {.root = "runs"});
  std::printf("%s\n", result.stopped ? "mastered" : "not mastered");
}
// readme: end
}  // namespace docs::curriculum

namespace docs::tasks {
// readme: tasks
#include "algorithms/on_policy/ppo/ppo.hpp"

troupe::task<> learn_three_tasks(troupe::system& sys) {
  troupe::ppo_config config;
  config.env.n_envs = 8;
  config.env.tasks = {{.id = "left", .floor = -1, .target = 0.78},  // the best return is 0.825
                      {.id = "right", .floor = -1, .target = 0.78},
                      {.id = "middle", .floor = -1, .target = 0.88}};  // 0.925
  config.env.schedule = {.rule = troupe::loops::schedule_rule::by_need, .stop_when_learned = true};
  co_await troupe::train_in(sys, config, {.root = "runs"});
}
// readme: end
}  // namespace docs::tasks
