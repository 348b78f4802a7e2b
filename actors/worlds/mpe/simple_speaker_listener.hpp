#pragma once
// The environment simple_speaker_listener_v4.

#include "actors/worlds/mpe/particle_environment.hpp"

namespace troupe {

/// A speaker sees which of three landmarks is the goal, and says one of three words in each step. A
/// listener hears the word of the step before, and is to move to the goal.
///
/// Observations: of speaker_0 [3] the colour of the goal; of listener_0 [11] its velocity, the
/// positions of the landmarks relative to its own, and the word [3]. Both get minus the squared
/// distance of the listener to the goal.
class simple_speaker_listener final : public particle_environment {
 public:
  simple_speaker_listener() : simple_speaker_listener(mpe_options{}) {}
  /// Throws std::invalid_argument for an option outside of its range.
  explicit simple_speaker_listener(const mpe_options& options);

 private:
  void paint() override;
  void observe(std::size_t i, observation_writer& to) const override;
  void reward(std::span<agent_step> results) const override;
};

}  // namespace troupe
