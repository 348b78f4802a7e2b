#pragma once
// The environment simple_tag_v3.

#include "actors/worlds/mpe/particle_environment.hpp"

namespace troupe {

struct simple_tag_options : mpe_options {
  std::int64_t good_agents = 1;  ///< The agents that run away.
  std::int64_t adversaries = 3;  ///< The agents that chase them.
  std::int64_t obstacles = 2;    ///< The landmarks, which block the way.
};
void describe(options_schema<simple_tag_options>& s);

/// Adversaries chase faster good agents around obstacles.
///
/// Observation of each agent: its velocity and position, and relative to that the positions of the
/// obstacles and of the other agents, and then the velocities of the good agents, but not its own.
/// Adversaries come first. Rewards: all adversaries get 10 for each pair of an adversary and a good
/// agent that touch; a good agent loses 10 for each adversary that touches it. It also loses for
/// each coordinate x outside of the square: 10 (|x| - 0.9) from 0.9 to 1, and the smaller one of
/// exp(2 |x| - 2) and 10 beyond.
class simple_tag final : public particle_environment {
 public:
  simple_tag() : simple_tag(simple_tag_options{}) {}
  /// Throws std::invalid_argument for an option outside of its range.
  explicit simple_tag(const simple_tag_options& options);

 private:
  void observe(std::size_t i, observation_writer& to) const override;
  void reward(std::span<agent_step> results) const override;

  std::size_t adversaries_;
};

}  // namespace troupe
