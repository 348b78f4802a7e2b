#include "actors/worlds/mpe/scripted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace troupe {
namespace {

constexpr std::size_t spread_agents_max = 8;
constexpr double coasting = 0.4;  // the way to a halt, in parts of the velocity

vec2 vector_at(std::span<const float> obs, std::size_t i) { return {obs[i], obs[i + 1]}; }

// Returns the move along the longer axis of `way`.
std::int64_t move_along(vec2 way) {
  if (std::abs(way.x) >= std::abs(way.y)) return way.x < 0 ? 1 : 2;
  return way.y < 0 ? 3 : 4;
}

// Returns the move of an agent that is to go `way`.
std::int64_t approach(vec2 way, vec2 velocity) {
  const vec2 left = way - velocity * coasting;
  if (std::max(std::abs(left.x), std::abs(left.y)) <= 0.1) return 0;
  return move_along(left);
}

// Returns the index of the shortest of `count` vectors, which begin at obs[first].
std::size_t nearest_of(std::span<const float> obs, std::size_t first, std::size_t count) {
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < count; ++i)
    if (squared_length(vector_at(obs, first + 2 * i)) <
        squared_length(vector_at(obs, first + 2 * nearest)))
      nearest = i;
  return nearest;
}

std::size_t index_of_largest(std::span<const float> values) {
  return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
}

// Returns where the other agents begin in an observation of simple_tag.
std::size_t first_other(const simple_tag_options& options) {
  return 4 + 2 * static_cast<std::size_t>(options.obstacles);
}

}  // namespace

std::vector<std::int64_t> scripted_spread(std::span<const float> observations, std::size_t agents) {
  if (agents > spread_agents_max)
    throw std::invalid_argument(fmt::format("scripted_spread: expected at most {} agents, got {}",
                                            spread_agents_max, agents));
  const auto own = [&](std::size_t i) { return observations.subspan(i * 6 * agents, 6 * agents); };
  const auto way = [&](std::size_t i, std::size_t landmark) {
    return vector_at(own(i), 4 + 2 * landmark);
  };
  std::vector<std::size_t> landmarks(agents), best;
  std::iota(landmarks.begin(), landmarks.end(), std::size_t{0});
  double least = particle::infinite;
  do {
    double sum = 0;
    for (std::size_t i = 0; i < agents; ++i) sum += length(way(i, landmarks[i]));
    if (sum >= least) continue;
    least = sum;
    best = landmarks;
  } while (std::ranges::next_permutation(landmarks).found);
  std::vector<std::int64_t> actions;
  for (std::size_t i = 0; i < agents; ++i)
    actions.push_back(approach(way(i, best[i]), vector_at(own(i), 0)));
  return actions;
}

std::int64_t scripted_speaker(std::span<const float> obs) {
  return static_cast<std::int64_t>(index_of_largest(obs));
}

std::int64_t scripted_listener(std::span<const float> obs) {
  const auto heard = obs.last(3);
  const auto word = index_of_largest(heard);
  if (heard[word] == 0) return 0;
  return approach(vector_at(obs, 2 + 2 * word), vector_at(obs, 0));
}

std::int64_t scripted_blind_listener(std::span<const float> obs) {
  const vec2 sum = vector_at(obs, 2) + vector_at(obs, 4) + vector_at(obs, 6);
  return approach(sum * (1.0 / 3), vector_at(obs, 0));
}

std::int64_t scripted_chaser(std::span<const float> obs, const simple_tag_options& options) {
  const auto runners = static_cast<std::size_t>(options.good_agents);
  const auto first = first_other(options) + 2 * static_cast<std::size_t>(options.adversaries - 1);
  const auto nearest = nearest_of(obs, first, runners);
  const vec2 velocity = vector_at(obs, first + 2 * (runners + nearest));
  return move_along(vector_at(obs, first + 2 * nearest) +
                    (velocity - vector_at(obs, 0)) * coasting);
}

std::int64_t scripted_runner(std::span<const float> obs, const simple_tag_options& options) {
  const vec2 position = vector_at(obs, 2);
  if (std::max(std::abs(position.x), std::abs(position.y)) > 0.9) return move_along(position * -1);
  const auto first = first_other(options);
  const auto nearest = nearest_of(obs, first, static_cast<std::size_t>(options.adversaries));
  return move_along(vector_at(obs, first + 2 * nearest) * -1);
}

std::int64_t random_runner(numpy_random& random) { return random.integers(0, 5); }

}  // namespace troupe
