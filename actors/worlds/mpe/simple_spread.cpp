#include "actors/worlds/mpe/simple_spread.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/config/config.hpp"

namespace troupe {

simple_spread::simple_spread(const simple_spread_options& options)
    : particle_environment(
          [&] {
            checked_options(options, "simple_spread_v3");
            const auto count = static_cast<std::size_t>(options.agents);
            definition made{.id = "simple_spread_v3", .grows = options.curriculum};
            for (std::size_t i = 0; i < count; ++i) {
              made.agents.push_back({.name = "agent_" + std::to_string(i),
                                     .obs_size = 6 * count,
                                     .body = {.radius = 0.15,
                                              .movable = true,
                                              .collides = true,
                                              .colour = {0.35F, 0.35F, 0.85F}}});
              made.landmarks.push_back({.colour = {0.25F, 0.25F, 0.25F}});
            }
            return made;
          }(),
          options),
      local_ratio_(options.local_ratio),
      grows_(options.curriculum) {}

double simple_spread::distance_to_nearest(const particle& landmark) const {
  double nearest = particle::infinite;
  for (const auto& agent : agents().first(present())) {
    nearest = std::min(nearest, squared_length(agent.position - landmark.position));
  }
  return std::sqrt(nearest);
}

std::optional<bool> simple_spread::success() const {
  if (!grows_) return std::nullopt;
  return std::ranges::all_of(landmarks().first(present()), [this](const particle& landmark) {
    return distance_to_nearest(landmark) < 0.2;
  });
}

void simple_spread::observe(std::size_t i, observation_writer& to) const {
  to.add(agents()[i].velocity);
  to.add(agents()[i].position);
  add_landmarks(i, to);
  add_others(i, to);
  to.add_zeros(2 * (agents().size() - 1));
}

void simple_spread::reward(std::span<agent_step> results) const {
  double shared = 0;
  for (const auto& landmark : landmarks().first(present())) {
    shared -= distance_to_nearest(landmark);
  }
  for (std::size_t i = 0; i < present(); ++i) {
    for (std::size_t j = i + 1; j < present(); ++j) {
      if (!overlap(agents()[i], agents()[j])) continue;
      results[i].reward -= 1;
      results[j].reward -= 1;
    }
    results[i].reward = shared * (1 - local_ratio_) + results[i].reward * local_ratio_;
  }
}

void describe(options_schema<simple_spread_options>& s) {
  s.field("N", &simple_spread_options::agents)
      .at_least(1)
      .at_most(64)
      .help("The number of agents, and of landmarks.");
  s.field("local_ratio", &simple_spread_options::local_ratio)
      .at_least(0)
      .at_most(1)
      .help("The weight of an agent's own collisions; the rest is that of the shared reward.");
  s.field("curriculum", &simple_spread_options::curriculum)
      .help(
          "If true, there is a level for each number of agents: the first has one agent and one "
          "landmark, the last has N.");
  describe_episodes(s);
}

}  // namespace troupe
