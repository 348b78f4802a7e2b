#pragma once
// The environment simple_reference_v3.

#include "actors/worlds/mpe/particle_environment.hpp"

namespace troupe {

struct simple_reference_options : mpe_options {
  double local_ratio = 0.5;  ///< The weight of an agent's own reward, from 0 to 1.
};
void describe(options_schema<simple_reference_options>& s);

/// Each of two agents knows to which of three landmarks the other one is to move, and says one of
/// ten words in each step, which the other one hears.
///
/// Observation [21]: the agent's velocity, the positions of the landmarks relative to its own, the
/// colour of the other agent's goal, and the other agent's word [10] of the step. The own reward of
/// an agent is minus the distance of the other one to its goal; it gets local_ratio times this and
/// 1 - local_ratio times the mean of both.
class simple_reference final : public particle_environment {
 public:
  simple_reference() : simple_reference(simple_reference_options{}) {}
  /// Throws std::invalid_argument for an option outside of its range.
  explicit simple_reference(const simple_reference_options& options);

 private:
  void paint() override;
  void observe(std::size_t i, observation_writer& to) const override;
  void reward(std::span<agent_step> results) const override;

  double local_ratio_;
};

}  // namespace troupe
