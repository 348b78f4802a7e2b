#pragma once
// An environment whose agents leave it one after another.

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "actors/environments/multi_agent_environment.hpp"
#include "actors/worlds/registry.hpp"

namespace troupe::testing {

/// Three agents see the step and choose one of three actions in each. agent_0 is cut off with step
/// 1, the task of agent_1 ends with step 2 and that of agent_2 with step 4, the last one of the
/// episode. An agent that is there gets 1 if it chooses the number of the step modulo 3. The state
/// is the step. While `fails_at` is a step, that step fails.
class departing final : public multi_agent_environment {
 public:
  static constexpr std::int64_t last_step[] = {1, 2, 4};

  env_spec spec() const override {
    const space seen = spaces::box(0, 9, {1});
    return with_joint_spaces({.id = "Departing-v0",
                              .agents = {{"agent_0", seen, spaces::discrete(3)},
                                         {"agent_1", seen, spaces::discrete(3)},
                                         {"agent_2", seen, spaces::discrete(3)}},
                              .state_space = seen,
                              .agents_vary = true});
  }
  void begin(std::optional<std::uint64_t>, joint_observation obs) override {
    t_ = 0;
    show(obs);
  }
  void act(joint_action actions, joint_observation obs, std::span<agent_step> results) override {
    if (t_ == fails_at) throw std::runtime_error("the world is broken");
    for (std::size_t i = 0; i < 3; ++i) {
      if (t_ > last_step[i]) continue;
      results[i].reward = actions[i].discrete() == t_ % 3 ? 1 : 0;
      if (t_ < last_step[i]) continue;
      results[i].ended = i == 0 ? episode_end::truncated : episode_end::terminated;
    }
    ++t_;
    show(obs);
  }
  bool save(state_writer& to) const override {
    to.put("t", t_);
    return true;
  }
  void restore(const state_reader& from) override {
    from.get("t", t_);
    set_ended({t_ > last_step[0], t_ > last_step[1], t_ > last_step[2]});
  }

  static inline std::int64_t fails_at = -1;

 private:
  void show(joint_observation obs) const {
    obs.state()[0] = static_cast<float>(t_);
    for (std::size_t i = 0; i < 3; ++i) obs[i][0] = static_cast<float>(t_);
  }
  std::int64_t t_ = 0;
};

inline void register_departing() {
  static const bool known = (register_environment<departing>("Departing-v0"), true);
  static_cast<void>(known);
}

}  // namespace troupe::testing
