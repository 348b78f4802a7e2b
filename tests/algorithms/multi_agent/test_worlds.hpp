#pragma once
// Small environments with several agents, which tests can predict.

#include <cstdint>
#include <optional>

#include "actors/environments/env_state.hpp"
#include "actors/environments/multi_agent_environment.hpp"
#include "actors/worlds/registry.hpp"

namespace troupe::testing {

/// Two agents on a line of five cells see each other's place and get 1 while they share a cell.
/// Episodes are cut after eight steps. The state is both places.
class meeting final : public multi_agent_environment {
 public:
  env_spec spec() const override {
    const space place = spaces::box(0, 4, {2});
    return with_joint_spaces({.id = "Meeting-v0",
                              .max_episode_steps = 8,
                              .agents = {{"walker_0", place, spaces::discrete(3)},
                                         {"walker_1", place, spaces::discrete(3)}},
                              .state_space = place});
  }
  void begin(std::optional<std::uint64_t> seed, joint_observation obs) override {
    random_.begin_episode(seed);
    for (auto& at : at_) at = random_->integers(0, 5);
    show(obs);
  }
  void act(joint_action actions, joint_observation obs, std::span<agent_step> results) override {
    for (std::size_t i = 0; i < 2; ++i) {
      moves += actions[i].discrete() != 1;
      at_[i] = std::clamp<std::int64_t>(at_[i] + actions[i].discrete() - 1, 0, 4);
    }
    for (auto& one : results) one.reward = at_[0] == at_[1] ? 1 : 0;
    show(obs);
  }
  bool save(state_writer& to) const override {
    to.put("first", at_[0]);
    to.put("second", at_[1]);
    random_.save(to);
    return true;
  }
  void restore(const state_reader& from) override {
    from.get("first", at_[0]);
    from.get("second", at_[1]);
    random_.restore(from);
  }

  static inline std::int64_t moves = 0;  ///< How often an agent did not stay.

 private:
  void show(joint_observation obs) const {
    for (std::size_t i = 0; i < 2; ++i) {
      obs[i][0] = static_cast<float>(at_[i]);
      obs[i][1] = obs.state()[i == 0 ? 1 : 0] = static_cast<float>(at_[1 - i]);
    }
  }
  std::int64_t at_[2] = {0, 0};
  detail::env_random random_;
};

/// Three players take turns: player t % 3 acts in step t. A player gets 1 in the step after its own
/// and 10 two steps after it, so its own step is worth 11. It may not choose 2. The game ends after
/// `turns` steps.
class turns final : public multi_agent_environment {
 public:
  static constexpr std::int64_t count = 12;

  env_spec spec() const override {
    const space seen = spaces::box(0, 99, {1});
    return with_joint_spaces({.id = "Turns-v0",
                              .agents = {{"player_0", seen, spaces::discrete(3)},
                                         {"player_1", seen, spaces::discrete(3)},
                                         {"player_2", seen, spaces::discrete(3)}},
                              .agents_vary = true,
                              .action_masks = true});
  }
  void begin(std::optional<std::uint64_t>, joint_observation obs) override {
    t_ = 0;
    show(obs);
  }
  void act(joint_action actions, joint_observation obs, std::span<agent_step> results) override {
    if (actions[static_cast<std::size_t>(t_ % 3)].discrete() == 2) ++forbidden;
    if (t_ >= 1) results[static_cast<std::size_t>((t_ - 1) % 3)].reward += 1;
    if (t_ >= 2) results[static_cast<std::size_t>((t_ - 2) % 3)].reward += 10;
    ++t_;
    if (t_ == count) {
      for (auto& one : results) one.ended = episode_end::terminated;
    }
    show(obs);
  }
  bool save(state_writer& to) const override {
    to.put("t", t_);
    return true;
  }
  void restore(const state_reader& from) override { from.get("t", t_); }

  static inline std::int64_t forbidden = 0;  ///< How often a forbidden choice was made.

 private:
  void show(joint_observation obs) const {
    for (std::size_t i = 0; i < 3; ++i) {
      obs[i][0] = static_cast<float>(t_);
      obs.set_active(i, t_ < count && t_ % 3 == static_cast<std::int64_t>(i));
      obs.action_mask(i)[2] = 0;
    }
  }
  std::int64_t t_ = 0;
};

/// Two players act in turn, and player `absent` never does; they always see 1. Each step costs the
/// team 1 if `CostsTeam`, else it costs the player that acts 1. Only a time limit ends the episode,
/// after five steps.
template <bool CostsTeam>
class endless final : public multi_agent_environment {
 public:
  static constexpr std::size_t absent = 2;

  env_spec spec() const override {
    const space one = spaces::box(0, 1, {1});
    return with_joint_spaces({.id = CostsTeam ? "Endless-v0" : "EndlessOwn-v0",
                              .max_episode_steps = 5,
                              .agents = {{"player_0", one, spaces::discrete(2)},
                                         {"player_1", one, spaces::discrete(2)},
                                         {"player_2", one, spaces::discrete(2)}},
                              .agents_vary = true});
  }
  void begin(std::optional<std::uint64_t>, joint_observation obs) override {
    t_ = 0;
    show(obs);
  }
  void act(joint_action, joint_observation obs, std::span<agent_step> results) override {
    for (auto& one : results) one.reward = CostsTeam ? -1 : 0;
    if (!CostsTeam) results[static_cast<std::size_t>(t_ % 2)].reward = -1;
    ++t_;
    show(obs);
  }
  bool save(state_writer& to) const override {
    to.put("t", t_);
    return true;
  }
  void restore(const state_reader& from) override { from.get("t", t_); }

 private:
  void show(joint_observation obs) const {
    for (std::size_t i = 0; i < 3; ++i) {
      obs[i][0] = 1;
      obs.set_active(i, i != absent && t_ % 2 == static_cast<std::int64_t>(i));
    }
  }
  std::int64_t t_ = 0;
};

/// Registers all, once.
inline void register_test_worlds() {
  static const bool known =
      (register_environment<meeting>("Meeting-v0"), register_environment<turns>("Turns-v0"),
       register_environment<endless<true>>("Endless-v0"),
       register_environment<endless<false>>("EndlessOwn-v0"), true);
  static_cast<void>(known);
}

}  // namespace troupe::testing
