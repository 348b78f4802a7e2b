#include "actors/worlds/mpe/simple_tag.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/config/config.hpp"

namespace troupe {
namespace {

// Returns what a good agent loses for a coordinate.
double loss_outside(double coordinate) {
  const double x = std::abs(coordinate);
  if (x < 0.9) return 0;
  if (x < 1) return (x - 0.9) * 10;
  return std::min(std::exp(2 * x - 2), 10.0);
}

}  // namespace

simple_tag::simple_tag(const simple_tag_options& options)
    : particle_environment(
          [&] {
            checked_options(options, "simple_tag_v3");
            definition made{.id = "simple_tag_v3", .landmark_area = 0.9};
            const auto add = [&](const char* role, std::int64_t count, std::size_t velocities,
                                 const particle& body) {
              const auto places = options.obstacles + options.adversaries + options.good_agents - 1;
              const auto size = 4 + 2 * (static_cast<std::size_t>(places) + velocities);
              for (std::int64_t i = 0; i < count; ++i)
                made.agents.push_back({role + std::to_string(i), size, body});
            };
            const auto good = static_cast<std::size_t>(options.good_agents);
            add("adversary_", options.adversaries, good,
                {.radius = 0.075,
                 .movable = true,
                 .collides = true,
                 .strength = 3,
                 .max_speed = 1,
                 .colour = {0.85F, 0.35F, 0.35F}});
            add("agent_", options.good_agents, good - 1,
                {.radius = 0.05,
                 .movable = true,
                 .collides = true,
                 .strength = 4,
                 .max_speed = 1.3,
                 .colour = {0.35F, 0.85F, 0.35F}});
            made.landmarks.assign(
                static_cast<std::size_t>(options.obstacles),
                {.radius = 0.2, .collides = true, .colour = {0.25F, 0.25F, 0.25F}});
            return made;
          }(),
          options),
      adversaries_(static_cast<std::size_t>(options.adversaries)) {}

void simple_tag::observe(std::size_t i, observation_writer& to) const {
  to.add(agents()[i].velocity);
  to.add(agents()[i].position);
  add_landmarks(i, to);
  add_others(i, to);
  for (std::size_t good = adversaries_; good < agents().size(); ++good)
    if (good != i) to.add(agents()[good].velocity);
}

void simple_tag::reward(std::span<agent_step> results) const {
  const auto chasers = agents().first(adversaries_);
  double caught = 0;
  for (std::size_t good = adversaries_; good < results.size(); ++good) {
    const auto& runner = agents()[good];
    const auto touching = static_cast<double>(
        std::ranges::count_if(chasers, [&](const auto& one) { return overlap(one, runner); }));
    caught += 10 * touching;
    results[good].reward -= 10 * touching;
    results[good].reward -= loss_outside(runner.position.x);
    results[good].reward -= loss_outside(runner.position.y);
  }
  for (auto& of : results.first(adversaries_)) of.reward = caught;
}

void describe(options_schema<simple_tag_options>& s) {
  s.field("num_good", &simple_tag_options::good_agents)
      .at_least(1)
      .at_most(64)
      .help("The number of agents that run away.");
  s.field("num_adversaries", &simple_tag_options::adversaries)
      .at_least(1)
      .at_most(64)
      .help("The number of agents that chase them.");
  s.field("num_obstacles", &simple_tag_options::obstacles)
      .at_least(0)
      .at_most(64)
      .help("The number of obstacles.");
  describe_episodes(s);
}

}  // namespace troupe
