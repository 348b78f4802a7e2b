#pragma once
// The counts of actions that run_control gives to on_update callbacks.

#include <cstdint>
#include <span>
#include <vector>

#include "actors/environments/environment.hpp"
#include "actors/networks/network.hpp"

namespace troupe {

/// Counts how often each action was taken. An action has P choices, in the order of
/// network_shape::choices, and then A continuous numbers; each is counted for itself. Memory does
/// not grow with the actions counted.
class action_histogram {
 public:
  static constexpr int bins = 20;  ///< The number of bins of each continuous number.

  action_histogram() = default;
  /// An empty histogram for the actions of such an environment.
  action_histogram(const env_spec& spec, const network_shape& shape);

  /// Counts the choices [P] of one action, each below its number of options.
  void add(std::span<const std::int64_t> choices);
  /// Counts the continuous numbers [A] of one action, in the environment's units. Numbers that are
  /// not finite are left out.
  void add(std::span<const float> numbers);

  /// counts()[k][i], with k below P + A, is how often number k was choice i. For a continuous
  /// number it is how often number k lay in bin i of the `bins` bins of equal width from low(k) to
  /// high(k); the first and last bin also count the numbers beyond them.
  const std::vector<std::vector<std::int64_t>>& counts() const { return counts_; }
  /// The bounds of a continuous number: the environment's, or -1 and 1 where it names none.
  float low(std::size_t k) const { return bounds_.at(k - choices_).low; }
  float high(std::size_t k) const { return bounds_.at(k - choices_).high; }

 private:
  struct range {
    float low = -1.0f;
    float high = 1.0f;
  };

  std::vector<std::vector<std::int64_t>> counts_;  // [P + A][options or bins]
  std::size_t choices_ = 0;                        // P
  std::vector<range> bounds_;                      // [A]
};

}  // namespace troupe
