#pragma once
// The columns of a rollout, each stated once: as vectors they are what an episode writes and what
// travels (rollout), as tensors what a learner is given (rollout_batch).

#include <tuple>
#include <utility>

namespace troupe {

/// What a column has rows for, and its shape.
enum class axis {
  steps,         ///< [T, B]
  cuts,          ///< [F] where an episode was cut
  environments,  ///< [B]
};

struct column_info {
  const char* name;
  axis along;
  bool is_obs = false;    ///< Each row is an observation [D].
  bool is_flag = false;   ///< Each is true or false.
  bool optional = false;  ///< A batch may lack it.
};

/// Column<T>: how numbers of a T are kept; bool: flags.
template <template <class> class Column>
struct rollout_columns {
  Column<float> obs;              ///< [T, B, D] what the action was chosen from
  Column<float> log_prob;         ///< [T, B] of the action, under the policy that acted
  Column<float> value;            ///< [T, B] V(obs) under the policy that acted
  Column<float> reward;           ///< [T, B]
  Column<bool> terminated;        ///< [T, B] the episode ended with this step
  Column<bool> truncated;         ///< [T, B] the episode was cut after this step
  Column<bool> valid;             ///< [T, B] false: of an episode that was dropped
  Column<float> final_obs;        ///< [F, D] last observations of truncated episodes
  Column<float> bootstrap_obs;    ///< [B, D] the observation after the last step
  Column<float> bootstrap_value;  ///< [B] its V under the policy that acted
};

/// Calls use(pair...) with a pair for each column above: its column_info and a tuple of that column
/// of each of `of`.
template <class Use, class... Of>
auto with_columns(const Use& use, Of&... of) {
  const auto column = [](column_info info, auto&... each) {
    return std::pair(info, std::tie(each...));
  };
  return use(
      column({.name = "obs", .along = axis::steps, .is_obs = true}, of.obs...),
      column({.name = "log_prob", .along = axis::steps}, of.log_prob...),
      column({.name = "value", .along = axis::steps}, of.value...),
      column({.name = "reward", .along = axis::steps}, of.reward...),
      column({.name = "terminated", .along = axis::steps, .is_flag = true}, of.terminated...),
      column({.name = "truncated", .along = axis::steps, .is_flag = true}, of.truncated...),
      column({.name = "valid", .along = axis::steps, .is_flag = true, .optional = true},
             of.valid...),
      column({.name = "final_obs", .along = axis::cuts, .is_obs = true}, of.final_obs...),
      column({.name = "bootstrap_obs", .along = axis::environments, .is_obs = true},
             of.bootstrap_obs...),
      column({.name = "bootstrap_value", .along = axis::environments}, of.bootstrap_value...));
}

/// Calls each(info, column...) for every column, with that of each of `of`.
template <class Each, class... Of>
void for_each_column(const Each& each, Of&... of) {
  const auto call = [&](const auto& pair) {
    std::apply([&](auto&... column) { each(pair.first, column...); }, pair.second);
  };
  with_columns([&](const auto&... pair) { (call(pair), ...); }, of...);
}

/// References to all columns, for wire_members.
template <class Of>
auto tie_columns(Of& of) {
  return with_columns([](const auto&... pair) { return std::tuple_cat(pair.second...); }, of);
}

}  // namespace troupe
