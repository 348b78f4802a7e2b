#pragma once
// Which actions several agents take in the same step.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/agent_layout.hpp"
#include "actors/environments/environment.hpp"

namespace troupe {

/// Counts the joint actions of an environment whose agents make one choice each, if there are at
/// most count_max of them. For other environments it counts nothing.
class joint_actions {
 public:
  static constexpr std::size_t count_max = 36;

  joint_actions() = default;
  explicit joint_actions(const env_spec& spec);

  /// True if joint actions are counted.
  bool counts() const { return !counts_.empty(); }
  /// Counts a step with the observation `before` [D] and the choices of all agents [N]. A step in
  /// which an agent does not act has no joint action.
  void add(std::span<const float> before, std::span<const std::int64_t> choices);
  /// Returns the share of each joint action in the steps that were counted, 0 to 1. The last
  /// agent's choice changes fastest. Empty if no step was counted.
  std::vector<double> shares() const;

 private:
  agent_layout layout_;
  std::vector<spaces::discrete> choices_;  // [N]
  std::vector<std::int64_t> counts_;       // of each joint action
};

/// A table in the form of the status page's.
struct text_table {
  std::vector<std::string> columns;            ///< The names above the columns.
  std::vector<std::vector<std::string>> rows;  ///< Each begins with its name.
};

/// Returns the name of joint action `index`, such as "0-2".
std::string joint_action_name(const env_spec& spec, std::size_t index);
/// Returns the shares of joint actions as percentages. With two agents a row is a choice of the
/// first and a column one of the second; with others a row is a joint action that occurred, the
/// most frequent first.
text_table table_of(const env_spec& spec, std::span<const double> shares);

}  // namespace troupe
