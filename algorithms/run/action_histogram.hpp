#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "actors/environments/environment.hpp"
#include "actors/networks/network.hpp"

namespace troupe {

/// How often each action was taken, number by number. An action has A numbers: choices, or
/// continuous ones. Its memory does not grow with the actions that are counted.
class action_histogram {
 public:
  static constexpr int bins = 20;  ///< Of a continuous number.

  action_histogram() = default;
  /// Of the actions of such an environment; nothing is counted yet.
  action_histogram(const env_spec& spec, const network_shape& shape);

  /// One action: choices [A], each below its number of choices.
  void add(std::span<const std::int64_t> choices);
  /// One action: numbers [A], in the environment's units. What is not finite is left out.
  void add(std::span<const float> numbers);

  /// counts()[k][i] with k below A: how often number k was choice i; or how often it lay in bin i
  /// of low(k) to high(k), of which there are `bins` of the same width. What lies below the first
  /// bin or above the last is counted there.
  const std::vector<std::vector<std::int64_t>>& counts() const { return counts_; }
  /// The bounds of a continuous number: the environment's, or -1 and 1 where it names none.
  float low(std::size_t k) const { return bounds_.at(k).low; }
  float high(std::size_t k) const { return bounds_.at(k).high; }

 private:
  struct range {
    float low = -1.0f;
    float high = 1.0f;
  };

  std::vector<std::vector<std::int64_t>> counts_;  // [A][choices or bins]
  std::vector<range> bounds_;                      // [A] of continuous numbers, else empty
};

}  // namespace troupe
