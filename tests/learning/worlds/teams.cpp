// Environments of the learning tests for several agents: a team whose players take turns, and a
// team whose members come and go.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "actors/environments/env_state.hpp"
#include "actors/environments/multi_agent_environment.hpp"
#include "actors/worlds/plugin.hpp"

namespace troupe {
namespace {

constexpr std::int64_t limit = 25;  // steps of an episode

/// Three players move one token on a ring of nine cells, each in its turn: player k moves it by k +
/// 1 cells to the left or to the right, or leaves it. In each step the team, thus every player,
/// loses 0.1 for each cell between the token and its goal. On the goal it gets 1, and another goal
/// is drawn. Only the time limit ends an episode.
class turn_taking final : public multi_agent_environment {
 public:
  env_spec spec() const override {
    const space seen = spaces::box(0, 1, {cells});
    return with_joint_spaces({.id = "TurnTaking-v0",
                              .max_episode_steps = limit,
                              .agents = {{"player_0", seen, spaces::discrete(3)},
                                         {"player_1", seen, spaces::discrete(3)},
                                         {"player_2", seen, spaces::discrete(3)}},
                              .state_space = spaces::box(0, 1, {cells + players}),
                              .agents_vary = true});
  }
  void begin(std::optional<std::uint64_t> seed, joint_observation obs) override {
    random_.begin_episode(seed);
    t_ = 0;
    draw_goal();
    show(obs);
  }
  void act(joint_action actions, joint_observation obs, std::span<agent_step> results) override {
    const auto player = t_ % players;
    way_ = (way_ + (player + 1) * direction_of(actions[static_cast<std::size_t>(player)]) + cells) %
           cells;
    double reward = -0.1 * static_cast<double>(std::min(way_, cells - way_));
    if (way_ == 0) {
      reward = 1;
      draw_goal();
    }
    for (auto& one : results) one.reward = reward;
    ++t_;
    show(obs);
  }
  bool save(state_writer& to) const override {
    to.put("way", way_);
    to.put("t", t_);
    random_.save(to);
    return true;
  }
  void restore(const state_reader& from) override {
    from.get("way", way_);
    from.get("t", t_);
    random_.restore(from);
  }

 private:
  static constexpr std::int64_t cells = 9, players = 3;

  static std::int64_t direction_of(action_view action) { return action.discrete() - 1; }
  void draw_goal() { way_ = random_->integers(1, cells); }
  void show(joint_observation obs) const {
    const auto cell = static_cast<std::size_t>(way_);
    const auto next = static_cast<std::size_t>(t_ % players);
    for (std::size_t i = 0; i < static_cast<std::size_t>(players); ++i) {
      std::ranges::fill(obs[i], 0.0F);
      obs[i][cell] = 1;
      obs.set_active(i, i == next);
    }
    std::ranges::fill(obs.state(), 0.0F);
    obs.state()[cell] = 1;
    obs.state()[static_cast<std::size_t>(cells) + next] = 1;
  }

  std::int64_t way_ = 1;  // the cells from the token to its goal, to the right
  std::int64_t t_ = 0;
  detail::env_random random_;
};

/// Four walkers on the line from -1 to 1 move by -0.2, 0 or 0.2. walker_0 is there all the time;
/// each of the others comes in one of the steps 0 to 5, and its task ends 8 to 16 steps later. In
/// each step the team, thus every walker that is there, loses the distance from each of two targets
/// to the walker that is nearest to it, and each walker pays 0.1 for a move.
class coming_and_going final : public multi_agent_environment {
 public:
  env_spec spec() const override {
    const space seen = spaces::box(-1, 1, {std::int64_t{own + 2 * (walkers - 1)}});
    env_spec made{.id = "ComingAndGoing-v0",
                  .max_episode_steps = limit,
                  .agents = {},
                  .state_space = spaces::box(-1, 1, {std::int64_t{3 + 2 * walkers}}),
                  .agents_vary = true};
    for (std::size_t i = 0; i < walkers; ++i) {
      made.agents.push_back({"walker_" + std::to_string(i), seen, spaces::discrete(3)});
    }
    return with_joint_spaces(std::move(made));
  }
  void begin(std::optional<std::uint64_t> seed, joint_observation obs) override {
    random_.begin_episode(seed);
    t_ = 0;
    for (auto& x : targets_) x = draw_place();
    for (std::size_t i = 0; i < walkers; ++i) {
      at_[i] = draw_place();
      comes_[i] = i == 0 ? 0 : random_->integers(0, 6);
      goes_[i] = i == 0 ? limit + 1 : comes_[i] + random_->integers(8, 17);
    }
    show(obs);
  }
  void act(joint_action actions, joint_observation obs, std::span<agent_step> results) override {
    for (std::size_t i = 0; i < walkers; ++i) {
      if (!is_there(i)) continue;
      const float move = move_of(actions[i]);
      at_[i] = std::clamp(at_[i] + 0.2F * move, -1.0F, 1.0F);
      results[i].reward = -0.1 * std::abs(move);
    }
    double shared = 0;
    for (const float target : targets_) {
      float nearest = 2;
      for (std::size_t i = 0; i < walkers; ++i) {
        if (is_there(i)) nearest = std::min(nearest, std::abs(at_[i] - target));
      }
      shared -= nearest;
    }
    for (std::size_t i = 0; i < walkers; ++i) {
      if (is_there(i)) results[i].reward += shared;
    }
    ++t_;
    for (std::size_t i = 0; i < walkers; ++i) {
      if (t_ == goes_[i]) results[i].ended = episode_end::terminated;
    }
    show(obs);
  }
  bool save(state_writer& to) const override {
    for (std::size_t i = 0; i < walkers; ++i) {
      const auto name = "walker_" + std::to_string(i);
      to.put(name + ".at", at_[i]);
      to.put(name + ".comes", comes_[i]);
      to.put(name + ".goes", goes_[i]);
    }
    to.put("first_target", targets_[0]);
    to.put("second_target", targets_[1]);
    to.put("t", t_);
    random_.save(to);
    return true;
  }
  void restore(const state_reader& from) override {
    std::vector<std::uint8_t> ended;
    from.get("t", t_);
    for (std::size_t i = 0; i < walkers; ++i) {
      const auto name = "walker_" + std::to_string(i);
      from.get(name + ".at", at_[i]);
      from.get(name + ".comes", comes_[i]);
      from.get(name + ".goes", goes_[i]);
      ended.push_back(t_ >= goes_[i]);
    }
    from.get("first_target", targets_[0]);
    from.get("second_target", targets_[1]);
    random_.restore(from);
    set_ended(std::move(ended));
  }

 private:
  static constexpr std::size_t walkers = 4;
  static constexpr std::size_t own = 4;  // an agent's place, the targets and the time

  static float move_of(action_view action) { return static_cast<float>(action.discrete() - 1); }
  float draw_place() { return static_cast<float>(random_->integers(-100, 101)) / 100; }
  bool is_there(std::size_t i) const { return t_ >= comes_[i] && t_ < goes_[i]; }
  float time() const { return static_cast<float>(t_) / limit; }
  void show(joint_observation obs) const {
    for (std::size_t i = 0; i < walkers; ++i) {
      obs.set_active(i, is_there(i));
      std::ranges::fill(obs[i], 0.0F);
      if (t_ < comes_[i]) continue;
      auto to = obs[i].begin();
      for (const float number : {at_[i], targets_[0], targets_[1], time()}) *to++ = number;
      for (std::size_t other = 0; other < walkers; ++other) {
        if (other == i) continue;
        *to++ = is_there(other) ? at_[other] : 0.0F;
        *to++ = is_there(other) ? 1.0F : 0.0F;
      }
    }
    auto to = obs.state().begin();
    for (const float number : {targets_[0], targets_[1], time()}) *to++ = number;
    for (std::size_t i = 0; i < walkers; ++i) {
      *to++ = is_there(i) ? at_[i] : 0.0F;
      *to++ = is_there(i) ? 1.0F : 0.0F;
    }
  }

  std::array<float, walkers> at_{};
  std::array<float, 2> targets_{};
  std::array<std::int64_t, walkers> comes_{},
      goes_{};  // the steps before which a walker comes and goes
  std::int64_t t_ = 0;
  detail::env_random random_;
};

}  // namespace
}  // namespace troupe

using namespace troupe;

TROUPE_PLUGIN(plugin_environment<turn_taking>("TurnTaking-v0"),
              plugin_environment<coming_and_going>("ComingAndGoing-v0"))
