#include "actors/worlds/mpe/simple_speaker_listener.hpp"

#include <algorithm>

#include "runtime/config/config.hpp"

namespace troupe {

simple_speaker_listener::simple_speaker_listener(const mpe_options& options)
    : particle_environment({.id = "simple_speaker_listener_v4",
                            .agents = {{.name = "speaker_0",
                                        .obs_size = 3,
                                        .body = {.radius = 0.075, .colour = {0.25F, 0.25F, 0.25F}},
                                        .speaks = true},
                                       {.name = "listener_0",
                                        .obs_size = 11,
                                        .body = {.radius = 0.075, .movable = true}}},
                            .landmarks = {{.radius = 0.04, .colour = {0.65F, 0.15F, 0.15F}},
                                          {.radius = 0.04, .colour = {0.15F, 0.65F, 0.15F}},
                                          {.radius = 0.04, .colour = {0.15F, 0.15F, 0.65F}}},
                            .words = 3,
                            .goals = 1},
                           checked_options(options, "simple_speaker_listener_v4")) {}

// The listener shows a lighter colour of the goal, which nobody observes.
void simple_speaker_listener::paint() {
  std::ranges::transform(landmarks()[goals()[0]].colour, agent_at(1).colour.begin(),
                         [](float part) { return part + 0.45F; });
}

void simple_speaker_listener::observe(std::size_t i, observation_writer& to) const {
  if (i == 0) return to.add(landmarks()[goals()[0]].colour);
  to.add(agents()[1].velocity);
  add_landmarks(1, to);
  to.add(said_by(0));
}

void simple_speaker_listener::reward(std::span<agent_step> results) const {
  const auto goal = landmarks()[goals()[0]].position;
  for (auto& of : results) of.reward = -squared_length(agents()[1].position - goal);
}

}  // namespace troupe
