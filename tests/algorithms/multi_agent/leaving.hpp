#pragma once
// An environment whose agents leave it one after another, which tests can predict.

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "actors/environments/multi_agent_environment.hpp"
#include "actors/worlds/registry.hpp"

namespace troupe::testing {

/// Three agents act at once and see the step and the others' last actions. agent_0 is cut off after
/// two steps, agent_1's task ends after three, and agent_2 is cut off after five, with which the
/// episode ends. An agent gets 1 in each step in which it takes the same action as the others that
/// are there. The state is the step. While `fails_at` is a step, that step fails.
class leaving final : public multi_agent_environment {
 public:
  static constexpr std::int64_t lasts[] = {2, 3, 5};  // the steps of each agent

  env_spec spec() const override {
    const space seen = spaces::box(0, 9, {4});
    return with_joint_spaces({.id = "Leaving-v0",
                              .agents = {{"agent_0", seen, spaces::discrete(3)},
                                         {"agent_1", seen, spaces::discrete(3)},
                                         {"agent_2", seen, spaces::discrete(3)}},
                              .state_space = spaces::box(0, 9, {1}),
                              .agents_vary = true});
  }
  void begin(std::optional<std::uint64_t>, joint_observation obs) override {
    t_ = 0;
    for (auto& last : last_) last = 0;
    show(obs);
  }
  void act(joint_action actions, joint_observation obs, std::span<agent_step> results) override {
    if (t_ == fails_at) throw std::runtime_error("the world is broken");
    for (std::size_t i = 0; i < 3; ++i) last_[i] = t_ < lasts[i] ? actions[i].discrete() : 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bool same = t_ < lasts[i];
      for (std::size_t j = 0; j < 3; ++j) same = same && (t_ >= lasts[j] || last_[j] == last_[i]);
      results[i].reward = same ? 1 : 0;
    }
    ++t_;
    for (std::size_t i = 0; i < 3; ++i) {
      if (t_ != lasts[i]) continue;
      results[i].ended = i == 1 ? episode_end::terminated : episode_end::truncated;
    }
    show(obs);
  }
  bool save(state_writer& to) const override {
    to.put("t", t_);
    to.put("first", last_[0]);
    to.put("second", last_[1]);
    to.put("third", last_[2]);
    return true;
  }
  void restore(const state_reader& from) override {
    from.get("t", t_);
    from.get("first", last_[0]);
    from.get("second", last_[1]);
    from.get("third", last_[2]);
    set_ended({t_ >= lasts[0], t_ >= lasts[1], t_ >= lasts[2]});
  }

  static inline std::int64_t fails_at = -1;

 private:
  void show(joint_observation obs) const {
    obs.state()[0] = static_cast<float>(t_);
    for (std::size_t i = 0; i < 3; ++i) {
      obs[i][0] = static_cast<float>(t_);
      for (std::size_t j = 0; j < 3; ++j) obs[i][j + 1] = static_cast<float>(last_[j]);
    }
  }
  std::int64_t t_ = 0;
  std::int64_t last_[3] = {0, 0, 0};
};

inline void register_leaving() {
  static const bool known = (register_environment<leaving>("Leaving-v0"), true);
  static_cast<void>(known);
}

}  // namespace troupe::testing
