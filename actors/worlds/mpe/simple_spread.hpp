#pragma once
// The environment simple_spread_v3.

#include "actors/worlds/mpe/particle_environment.hpp"

namespace troupe {

struct simple_spread_options : mpe_options {
  std::int64_t agents = 3;   ///< The number N of agents, and of landmarks.
  double local_ratio = 0.5;  ///< The weight of an agent's own collisions, from 0 to 1.
  bool curriculum = false;   ///< Level k, of N levels, has k + 1 agents and landmarks.
};
void describe(options_schema<simple_spread_options>& s);

/// N agents are to cover N landmarks without touching each other.
///
/// Observation [6 N] of each agent: its velocity and position, the positions of the landmarks and
/// of the other agents relative to its own, and 2 (N - 1) zeros. Reward of each agent:
/// (1 - local_ratio) times the sum over landmarks of minus the distance to the nearest agent, minus
/// local_ratio times the number of agents that it touches. With the option `curriculum`, an episode
/// is a success if an agent is within 0.2 of each landmark at its end.
class simple_spread final : public particle_environment {
 public:
  simple_spread() : simple_spread(simple_spread_options{}) {}
  /// Throws std::invalid_argument for an option outside of its range.
  explicit simple_spread(const simple_spread_options& options);

  std::optional<bool> success() const override;

 private:
  void observe(std::size_t i, observation_writer& to) const override;
  void reward(std::span<agent_step> results) const override;

  double distance_to_nearest(const particle& landmark) const;

  double local_ratio_;
  bool grows_;
};

}  // namespace troupe
