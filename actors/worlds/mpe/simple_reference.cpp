#include "actors/worlds/mpe/simple_reference.hpp"

#include <array>

#include "runtime/config/config.hpp"

namespace troupe {

simple_reference::simple_reference(const simple_reference_options& options)
    : particle_environment(
          {.id = "simple_reference_v3",
           .agents =
               {{.name = "agent_0", .obs_size = 21, .body = {.movable = true}, .speaks = true},
                {.name = "agent_1", .obs_size = 21, .body = {.movable = true}, .speaks = true}},
           .landmarks = {{.colour = {0.75F, 0.25F, 0.25F}},
                         {.colour = {0.25F, 0.75F, 0.25F}},
                         {.colour = {0.25F, 0.25F, 0.75F}}},
           .words = 10,
           .goals = 2},
          checked_options(options, "simple_reference_v3")),
      local_ratio_(options.local_ratio) {}

// goals()[i] is the landmark that agent i knows, to which the other agent is to move.
void simple_reference::paint() {
  for (std::size_t i = 0; i < 2; ++i) agent_at(1 - i).colour = landmarks()[goals()[i]].colour;
}

void simple_reference::observe(std::size_t i, observation_writer& to) const {
  to.add(agents()[i].velocity);
  add_landmarks(i, to);
  to.add(landmarks()[goals()[i]].colour);
  to.add(said_by(1 - i));
}

void simple_reference::reward(std::span<agent_step> results) const {
  std::array<double, 2> own;
  for (std::size_t i = 0; i < 2; ++i)
    own[i] = -distance(agents()[1 - i].position, landmarks()[goals()[i]].position);
  const double shared = (own[0] + own[1]) / 2;
  for (std::size_t i = 0; i < 2; ++i)
    results[i].reward = shared * (1 - local_ratio_) + own[i] * local_ratio_;
}

void describe(options_schema<simple_reference_options>& s) {
  s.field("local_ratio", &simple_reference_options::local_ratio)
      .at_least(0)
      .at_most(1)
      .help("The weight of an agent's own reward; the rest is that of the mean of both.");
  describe_episodes(s);
}

}  // namespace troupe
