#pragma once
// An environment in which an agent comes back after its end.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "actors/environments/agent_layout.hpp"
#include "actors/environments/environment.hpp"

namespace troupe::testing {

/// Two agents that get 1 in each step in which they act. The second one's episode ends with step 2;
/// it acts again from step 4 on. All ends with step 6.
class returning final : public environment {
 public:
  env_spec spec() const override {
    const space seen = spaces::box(0, 9, {1});
    return with_joint_spaces(
        {.id = "Returning-v0",
         .agents = {{"stays", seen, spaces::discrete(2)}, {"returns", seen, spaces::discrete(2)}},
         .agents_vary = true});
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override {
    t_ = 0;
    show(obs);
  }
  step_result step(action_view, std::span<float> obs) override {
    results_[0] = {.reward = 1};
    results_[1] = {.reward = acts() ? 1.0 : 0.0};
    ++t_;
    if (t_ == 2 || t_ == 6) results_[1].ended = episode_end::terminated;
    if (t_ == 6) results_[0].ended = episode_end::terminated;
    show(obs);
    return {.reward = 1, .terminated = t_ == 6};
  }
  std::span<const agent_step> agent_steps() const override { return results_; }

 private:
  bool acts() const { return t_ < 2 || t_ >= 3; }
  void show(std::span<float> obs) const {
    const bool over = t_ == 6;
    const float row[] = {float(t_), float(t_), over ? 0.0F : 1.0F, over || !acts() ? 0.0F : 1.0F};
    std::ranges::copy(row, obs.begin());
  }

  int t_ = 0;
  std::array<agent_step, 2> results_;
};

}  // namespace troupe::testing
