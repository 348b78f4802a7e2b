#pragma once
// The environment simple_push_v3.

#include "actors/worlds/mpe/particle_environment.hpp"

namespace troupe {

/// A good agent is to reach one of two landmarks, from which an adversary is to push it away. The
/// adversary doesn't know which of them is the goal.
///
/// Observations, with positions relative to the agent's: of the adversary, which comes first, [8]
/// its velocity, the landmarks and the good agent; of the good agent [19] its velocity, the goal,
/// its own colour, which is the goal's, the landmarks, their colours, and the adversary. Rewards:
/// of the good agent minus its distance to the goal, and of the adversary that distance minus its
/// own.
class simple_push final : public particle_environment {
 public:
  simple_push() : simple_push(mpe_options{}) {}
  /// Throws std::invalid_argument for an option outside of its range.
  explicit simple_push(const mpe_options& options);

 private:
  void paint() override;
  void observe(std::size_t i, observation_writer& to) const override;
  void reward(std::span<agent_step> results) const override;
};

}  // namespace troupe
