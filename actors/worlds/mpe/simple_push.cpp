#include "actors/worlds/mpe/simple_push.hpp"

#include "runtime/config/config.hpp"

namespace troupe {

simple_push::simple_push(const mpe_options& options)
    : particle_environment(
          {.id = "simple_push_v3",
           .agents =
               {{.name = "adversary_0",
                 .obs_size = 8,
                 .body = {.movable = true, .collides = true, .colour = {0.75F, 0.25F, 0.25F}}},
                {.name = "agent_0", .obs_size = 19, .body = {.movable = true, .collides = true}}},
           .landmarks = {{.colour = {0.1F, 0.9F, 0.1F}}, {.colour = {0.1F, 0.1F, 0.9F}}},
           .goals = 1},
          checked_options(options, "simple_push_v3")) {}

void simple_push::paint() {
  agent_at(1).colour = {0.25F, 0.25F, 0.25F};
  agent_at(1).colour[goals()[0] + 1] = 0.75F;
}

void simple_push::observe(std::size_t i, observation_writer& to) const {
  const bool is_good = i == 1;
  to.add(agents()[i].velocity);
  if (is_good) {
    to.add(landmarks()[goals()[0]].position - agents()[i].position);
    to.add(agents()[i].colour);
  }
  add_landmarks(i, to);
  if (is_good)
    for (const auto& landmark : landmarks()) to.add(landmark.colour);
  add_others(i, to);
}

void simple_push::reward(std::span<agent_step> results) const {
  const auto goal = landmarks()[goals()[0]].position;
  const double of_good = distance(agents()[1].position, goal);
  results[0].reward = of_good - distance(agents()[0].position, goal);
  results[1].reward = -of_good;
}

}  // namespace troupe
