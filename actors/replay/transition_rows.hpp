#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe {

/// How an episode ended with a step.
enum class episode_end : std::uint8_t {
  none,        ///< It did not: it goes on, or was lost with its environment.
  terminated,  ///< The task ended.
  truncated    ///< The episode was cut, by the time limit for instance.
};

/// Numbers of one transition.
struct transition_widths {
  std::size_t obs = 0;      ///< D
  std::size_t action = 0;   ///< A, floats of a continuous action; else 0
  std::size_t choices = 0;  ///< integers of a discrete action; else 0
  bool operator==(const transition_widths&) const = default;

  /// Of one transition in a transition_ring: its numbers, and 17 bytes that say where it lies.
  std::size_t bytes() const {
    constexpr auto place = 4 * sizeof(std::uint32_t) + sizeof(episode_end);
    return (2 * obs + action + 3) * sizeof(float) + choices * sizeof(std::int64_t) + place;
  }
};

/// N transitions, a column each: what collectors make, a transition_ring keeps and a learner is
/// given. Plain numbers, so that they travel anywhere. One of n steps holds the discounted sum of
/// its rewards, the observation after them and discount = gamma^n.
///
/// Rows of several environments follow one another in any order, those of one environment in the
/// order of their steps. A row lies where the step lies that it begins with, whatever n is: an
/// episode of T steps has T rows, of steps 0 to T - 1, and the last alone says how it ended. With
/// n > 1 the sums of the last n rows all reach that end, so `terminated` is 1 in all of them.
struct transition_rows {
  std::vector<float> obs;            ///< [N, D]
  std::vector<float> action;         ///< [N, A]
  std::vector<std::int64_t> choice;  ///< [N, choices]
  std::vector<float> reward;         ///< [N]
  std::vector<float> next_obs;       ///< [N, D] of this episode: its last one where it ends
  std::vector<float> terminated;     ///< [N] 1 or 0. A truncated episode is not terminated.
  std::vector<float> discount;       ///< [N]

  // Where each lies. What is drawn has none of it.
  std::vector<std::uint32_t> environment;  ///< [N] among those of all collectors
  std::vector<std::uint32_t> episode;      ///< [N] another than of the environment's episode before
  std::vector<std::uint32_t> step;         ///< [N] of its episode, from 0
  std::vector<std::uint8_t> ended;  ///< [N] an episode_end: whether the episode did, with this step

  // Of a prioritised sample alone, see transition_priorities::draw; else empty.
  std::vector<std::int64_t> number;  ///< [N] in the order of arrival
  std::vector<float> weight;         ///< [N] importance

  std::size_t size() const { return reward.size(); }
  /// Of the columns that are drawn. Keeps its memory where it shrinks.
  void resize(std::size_t rows, const transition_widths& widths);
};

/// Calls each(name, width, column...) for every column of transition_rows that is drawn, or of what
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

/// The same for the columns that say where a row lies, but for `episode`, which a ring does not
/// keep for each row.
template <class Each, class... Rows>
void for_each_place_column(const Each& each, Rows&... rows) {
  each("environment", std::size_t{1}, rows.environment...);
  each("step", std::size_t{1}, rows.step...);
  each("ended", std::size_t{1}, rows.ended...);
}

}  // namespace troupe
