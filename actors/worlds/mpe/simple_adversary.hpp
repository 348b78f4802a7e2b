#pragma once
// The environment simple_adversary_v3.

#include "actors/worlds/mpe/particle_environment.hpp"

namespace troupe {

struct simple_adversary_options : mpe_options {
  std::int64_t good_agents = 2;  ///< The number N of good agents, and of landmarks.
};
void describe(options_schema<simple_adversary_options>& s);

/// N good agents know which of N landmarks is the goal; an adversary doesn't. They are to reach it
/// and to mislead the adversary.
///
/// Observations, all positions relative to the agent's: of a good agent [4 N + 2] the goal, the
/// landmarks and the other agents; of the adversary, which comes first, [4 N] the landmarks and the
/// other agents. Rewards: of the adversary minus its distance to the goal; of every good agent the
/// adversary's distance minus that of the nearest good agent.
class simple_adversary final : public particle_environment {
 public:
  simple_adversary() : simple_adversary(simple_adversary_options{}) {}
  /// Throws std::invalid_argument for an option outside of its range.
  explicit simple_adversary(const simple_adversary_options& options);

 private:
  void paint() override;
  void observe(std::size_t i, observation_writer& to) const override;
  void reward(std::span<agent_step> results) const override;
};

}  // namespace troupe
