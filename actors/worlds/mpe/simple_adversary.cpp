#include "actors/worlds/mpe/simple_adversary.hpp"

#include <algorithm>

#include "runtime/config/config.hpp"

namespace troupe {

simple_adversary::simple_adversary(const simple_adversary_options& options)
    : particle_environment(
          [&] {
            checked_options(options, "simple_adversary_v3");
            const auto count = static_cast<std::size_t>(options.good_agents);
            definition made{.id = "simple_adversary_v3", .goals = 1};
            made.agents.push_back(
                {.name = "adversary_0",
                 .obs_size = 4 * count,
                 .body = {.radius = 0.15, .movable = true, .colour = {0.85F, 0.35F, 0.35F}}});
            for (std::size_t i = 0; i < count; ++i)
              made.agents.push_back(
                  {.name = "agent_" + std::to_string(i),
                   .obs_size = 4 * count + 2,
                   .body = {.radius = 0.15, .movable = true, .colour = {0.35F, 0.35F, 0.85F}}});
            made.landmarks.assign(count, {.radius = 0.08});
            return made;
          }(),
          options) {}

void simple_adversary::paint() {
  for (std::size_t i = 0; i < landmarks().size(); ++i)
    landmark_at(i).colour = {0.15F, i == goals()[0] ? 0.65F : 0.15F, 0.15F};
}

void simple_adversary::observe(std::size_t i, observation_writer& to) const {
  if (i > 0) to.add(landmarks()[goals()[0]].position - agents()[i].position);
  add_landmarks(i, to);
  add_others(i, to);
}

void simple_adversary::reward(std::span<agent_step> results) const {
  const auto goal = landmarks()[goals()[0]].position;
  const double of_adversary = distance(agents()[0].position, goal);
  double nearest = particle::infinite;
  for (const auto& good : agents().subspan(1))
    nearest = std::min(nearest, distance(good.position, goal));
  results[0].reward = -of_adversary;
  for (auto& of : results.subspan(1)) of.reward = -nearest + of_adversary;
}

void describe(options_schema<simple_adversary_options>& s) {
  s.field("N", &simple_adversary_options::good_agents)
      .at_least(1)
      .at_most(64)
      .help("The number of good agents, and of landmarks.");
  describe_episodes(s);
}

}  // namespace troupe
