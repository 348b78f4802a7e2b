#pragma once
// The columns of a rollout, each declared once. An episode writes them as vectors (rollout), a
// learner reads them as tensors (rollout_batch).

#include <tuple>
#include <utility>

namespace troupe {

/// The axis along which a column has rows.
enum class axis {
  steps,         ///< [T, B]: one row per step
  cuts,          ///< [F]: one row per truncated episode
  environments,  ///< [B]: one row per environment
};

struct column_info {
  const char* name;
  axis along;
  bool is_obs = false;    ///< Each row is an observation [D].
  bool is_flag = false;   ///< Each row is true or false.
  bool optional = false;  ///< A batch may lack the column.
};

/// The columns. Column<T> is the type of a column of numbers T; T is bool for flags.
template <template <class> class Column>
struct rollout_columns {
  Column<float> obs;              ///< [T, B, D] the observation from which the action was chosen
  Column<float> log_prob;         ///< [T, B] log pi(action | obs) under the policy that acted
  Column<float> value;            ///< [T, B] V(obs) under the policy that acted
  Column<float> reward;           ///< [T, B]
  Column<bool> terminated;        ///< [T, B] the episode ended with this step
  Column<bool> truncated;         ///< [T, B] the episode was cut after this step
  Column<bool> valid;             ///< [T, B] false if the episode was dropped
  Column<float> final_obs;        ///< [F, D] last observations of truncated episodes
  Column<float> bootstrap_obs;    ///< [B, D] the observation after the last step
  Column<float> bootstrap_value;  ///< [B] its V under the policy that acted
};

/// Calls use(pair...) with one pair for each column: its column_info, and a tuple of references to
/// that column in each object of `of`.
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

/// Calls each(info, column...) for every column, with that column of each object of `of`.
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
