#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe {

/// Numbers of one transition.
struct transition_widths {
  std::size_t obs = 0;      ///< D
  std::size_t action = 0;   ///< A, floats of a continuous action; else 0
  std::size_t choices = 0;  ///< integers of a discrete action; else 0
  bool operator==(const transition_widths&) const = default;

  /// Of one transition in transition_rows.
  std::size_t bytes() const {
    return (2 * obs + action + 3) * sizeof(float) + choices * sizeof(std::int64_t);
  }
};

/// N transitions, a column each: what collectors make, a transition_ring keeps and a learner is
/// given. Plain numbers, so that they travel anywhere. One of n steps holds the discounted sum of
/// its rewards, the observation after them and discount = gamma^n.
struct transition_rows {
  std::vector<float> obs;            ///< [N, D]
  std::vector<float> action;         ///< [N, A]
  std::vector<std::int64_t> choice;  ///< [N, choices]
  std::vector<float> reward;         ///< [N]
  std::vector<float> next_obs;       ///< [N, D] of this episode: its last one where it ends
  std::vector<float> terminated;     ///< [N] 1 or 0. A truncated episode is not terminated.
  std::vector<float> discount;       ///< [N]

  // Of a prioritised sample alone, see transition_priorities::draw; else empty.
  std::vector<std::int64_t> number;  ///< [N] in the order of arrival
  std::vector<float> weight;         ///< [N] importance

  std::size_t size() const { return reward.size(); }
  /// Keeps its memory where it shrinks.
  void resize(std::size_t rows, const transition_widths& widths);
};

/// Calls each(name, width, column...) for every column of transition_rows that is kept, or of what
/// has members of the same names.
template <class Each, class... Rows>
void for_each_column(const transition_widths& widths, const Each& each, Rows&... rows) {
  each("obs", widths.obs, rows.obs...);
  each("action", widths.action, rows.action...);
  each("choice", widths.choices, rows.choice...);
  each("reward", std::size_t{1}, rows.reward...);
  each("next_obs", widths.obs, rows.next_obs...);
  each("terminated", std::size_t{1}, rows.terminated...);
  each("discount", std::size_t{1}, rows.discount...);
}

}  // namespace troupe
