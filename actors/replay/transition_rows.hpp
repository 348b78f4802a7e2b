#pragma once
// The columns of transitions that collectors make, the replay keeps and off-policy learners train
// on.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "actors/environments/environment.hpp"

namespace troupe {

/// The number of values of one transition in each column.
struct transition_widths {
  std::size_t obs = 0;      ///< D
  std::size_t action = 0;   ///< A, floats of a continuous action; 0 for a discrete one.
  std::size_t choices = 0;  ///< Integers of a discrete action; 0 for a continuous one.
  std::size_t agents = 0;   ///< Agents with rewards and ends of their own; 0 for a single agent.
  bool operator==(const transition_widths&) const = default;

  /// The size of one transition in a transition_ring: its values, and 17 bytes for its place in the
  /// episode.
  std::size_t bytes() const {
    constexpr auto place = 4 * sizeof(std::uint32_t) + sizeof(episode_end);
    return (2 * obs + action + 3 + 2 * agents) * sizeof(float) + choices * sizeof(std::int64_t) +
           place;
  }
};

/// N transitions in columns of plain numbers. A transition of n steps holds the discounted sum of
/// its rewards, the observation after them and discount = gamma^n.
///
/// Rows of several environments follow one another in any order; rows of one environment are in the
/// order of their steps. The place of a row is that of its first step, whatever n is: an episode of
/// T steps has T rows, of steps 0 to T - 1, and only the last row says how it ended. With n > 1 the
/// sums of the last n rows all reach the end, so `terminated` is 1 in all of them.
struct transition_rows {
  std::vector<float> obs;            ///< [N, D]
  std::vector<float> action;         ///< [N, A]
  std::vector<std::int64_t> choice;  ///< [N, choices]
  std::vector<float> reward;         ///< [N]
  std::vector<float> next_obs;       ///< [N, D]; at the end of an episode its last observation
  std::vector<float> terminated;     ///< [N], 1 or 0; a truncated episode is not terminated
  std::vector<float> discount;       ///< [N]
  // Of environments with several agents; empty for a single one.
  std::vector<float> agent_reward;  ///< [N, agents]
  std::vector<float>
      agent_terminated;  ///< [N, agents], 1 if the agent's episode terminated, else 0

  // The place of each row. Drawn rows don't have these columns.
  /// [N], the index among the environments of all collectors
  std::vector<std::uint32_t> environment;
  /// [N], differs from that of the environment's previous episode
  std::vector<std::uint32_t> episode;
  std::vector<std::uint32_t> step;  ///< [N], the step of its episode, from 0
  std::vector<std::uint8_t> ended;  ///< [N], an episode_end: how the episode ended with this step

  // Only prioritised draws have these columns, see transition_priorities::draw; else they are
  // empty.
  std::vector<std::int64_t> number;  ///< [N], the row's number in the order of arrival
  std::vector<float> weight;         ///< [N], the importance weight

  std::size_t size() const { return reward.size(); }
  /// Resizes the columns that are drawn. It keeps its memory when it shrinks.
  void resize(std::size_t rows, const transition_widths& widths);
};

/// Calls each(name, width, column...) for every column that is drawn; those of agents are left out
/// if there are none. `rows` are transition_rows or other structs with members of the same names.
template <class Each, class... Rows>
void for_each_column(const transition_widths& widths, const Each& each, Rows&... rows) {
  each("obs", widths.obs, rows.obs...);
  each("action", widths.action, rows.action...);
  each("choice", widths.choices, rows.choice...);
  each("reward", std::size_t{1}, rows.reward...);
  each("next_obs", widths.obs, rows.next_obs...);
  each("terminated", std::size_t{1}, rows.terminated...);
  each("discount", std::size_t{1}, rows.discount...);
  if (widths.agents == 0) return;
  each("agent_reward", widths.agents, rows.agent_reward...);
  each("agent_terminated", widths.agents, rows.agent_terminated...);
}

/// Calls each(name, width, column...) for the columns with the place of a row, except for
/// `episode`, which a ring does not keep for each row.
template <class Each, class... Rows>
void for_each_place_column(const Each& each, Rows&... rows) {
  each("environment", std::size_t{1}, rows.environment...);
  each("step", std::size_t{1}, rows.step...);
  each("ended", std::size_t{1}, rows.ended...);
}

}  // namespace troupe
