#pragma once
// What environments show, as each policy sees it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "actors/networks/joint_shape.hpp"
#include "algorithms/on_policy/rollout_normalizer.hpp"
#include "runtime/base/recycled_vector.hpp"

namespace troupe {

/// The rows of G environments, as each policy sees them. N is the number of a policy's agents.
class policy_rows {
 public:
  /// `rows`, and `normalizer` unless it is null, outlive the object.
  explicit policy_rows(const agent_rows& rows, rollout_normalizer* normalizer = nullptr);
  /// The same with the environments' rows [G, D'].
  policy_rows(const agent_rows& rows, recycled_vector<float> joint) : policy_rows(rows) {
    see(std::move(joint));
  }

  /// Takes the environments' rows [G, D'], which are not normalised yet.
  void see(recycled_vector<float> joint);
  /// Adds the rows of agents that act to the statistics, if observations are normalised.
  void count();
  /// Normalises the rows by the statistics so far, if observations are normalised.
  void normalize();

  /// The rows [G N, D] of a policy.
  std::span<const float> of(std::size_t policy) const { return seen_[policy]; }
  /// Which of a policy's agents act, [G N].
  std::span<const std::uint8_t> acts(std::size_t policy) const { return acts_[policy]; }
  /// The row [D'] of an environment, which is not normalised with several agents.
  std::span<const float> joint(std::size_t environment) const;
  /// Returns the rows [N, D] of a policy for another row [D'] of an environment, normalised by the
  /// statistics so far.
  recycled_vector<float> rows_of(std::size_t policy, std::span<const float> joint_row) const;

 private:
  const agent_rows* rows_;
  rollout_normalizer* normalizer_;
  recycled_vector<float> joint_;              // [G, D']; empty for a single agent
  std::vector<recycled_vector<float>> seen_;  // of each policy
  std::vector<recycled_vector<std::uint8_t>> acts_;
};

}  // namespace troupe
