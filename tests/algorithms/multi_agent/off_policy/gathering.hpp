#pragma once
// A small environment with two agents and continuous actions.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "actors/environments/env_state.hpp"
#include "actors/environments/multi_agent_environment.hpp"
#include "actors/worlds/registry.hpp"

namespace troupe::testing {

/// Two agents on the line from -1 to 1 see their own place, the other's, and a goal that is drawn
/// for each episode. An action of 0..4 moves an agent by -0.5..0.5. The reward is minus the
/// distance from the goal, and minus half the distance from the other agent while it is there.
/// Episodes are cut after eight steps. With `Leaves`, walker_1's task ends after five.
template <bool Leaves>
class gathering final : public multi_agent_environment {
 public:
  env_spec spec() const override {
    const space seen = spaces::box(-1, 1, {3}), move = spaces::box(0, 4, {1});
    return with_joint_spaces({.id = Leaves ? "GatheringLeaving-v0" : "Gathering-v0",
                              .max_episode_steps = 8,
                              .agents = {{"walker_0", seen, move}, {"walker_1", seen, move}},
                              .state_space = seen,
                              .agents_vary = Leaves});
  }
  void begin(std::optional<std::uint64_t> seed, joint_observation obs) override {
    random_.begin_episode(seed);
    for (auto* number : {&at_[0], &at_[1], &goal_}) {
      *number = static_cast<float>(random_->integers(-100, 101)) / 100;
    }
    t_ = 0;
    show(obs);
  }
  void act(joint_action actions, joint_observation obs, std::span<agent_step> results) override {
    for (std::size_t i = 0; i < 2; ++i) {
      if (!is_there(i)) continue;
      at_[i] = std::clamp(at_[i] + (actions[i].continuous()[0] - 2) / 4, -1.0f, 1.0f);
    }
    for (std::size_t i = 0; i < 2; ++i) {
      if (!is_there(i)) continue;
      results[i].reward = -std::abs(at_[i] - goal_);
      if (is_there(1)) results[i].reward -= 0.5 * std::abs(at_[0] - at_[1]);
    }
    ++t_;
    if (Leaves && t_ == stays) results[1].ended = episode_end::terminated;
    show(obs);
  }
  bool save(state_writer& to) const override {
    to.put("first", at_[0]);
    to.put("second", at_[1]);
    to.put("goal", goal_);
    to.put("t", t_);
    random_.save(to);
    return true;
  }
  void restore(const state_reader& from) override {
    from.get("first", at_[0]);
    from.get("second", at_[1]);
    from.get("goal", goal_);
    from.get("t", t_);
    random_.restore(from);
    if (Leaves) set_ended({false, t_ >= stays});
  }

 private:
  static constexpr std::int64_t stays = 5;

  bool is_there(std::size_t i) const { return !Leaves || i == 0 || t_ < stays; }
  void show(joint_observation obs) const {
    for (std::size_t i = 0; i < 2; ++i) {
      obs[i][0] = at_[i];
      obs[i][1] = at_[1 - i];
      obs[i][2] = goal_;
      obs.state()[i] = at_[i];
    }
    obs.state()[2] = goal_;
  }
  float at_[2] = {0, 0};
  float goal_ = 0;
  std::int64_t t_ = 0;
  detail::env_random random_;
};

/// Registers both, once.
inline void register_gathering() {
  static const bool known = (register_environment<gathering<false>>("Gathering-v0"),
                             register_environment<gathering<true>>("GatheringLeaving-v0"), true);
  static_cast<void>(known);
}

}  // namespace troupe::testing
