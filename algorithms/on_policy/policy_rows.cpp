#include "algorithms/on_policy/policy_rows.hpp"

#include <utility>

namespace troupe {

policy_rows::policy_rows(const agent_rows& rows, rollout_normalizer* normalizer)
    : rows_(&rows), normalizer_(normalizer), seen_(rows.policies()), acts_(rows.policies()) {}

void policy_rows::see(recycled_vector<float> joint) {
  const auto environments = joint.size() / rows_->width();
  for (std::size_t policy = 0; policy < seen_.size(); ++policy) {
    const auto count = environments * rows_->agents_of(policy).size();
    acts_[policy].resize(count);
    rows_->gather_active(policy, joint, acts_[policy]);
    if (rows_->is_single()) continue;
    seen_[policy].resize(count * static_cast<std::size_t>(rows_->shape_of_policy(policy).obs_size));
    rows_->gather(policy, joint, seen_[policy]);
  }
  // The rows of a single agent are those of its environments.
  (rows_->is_single() ? seen_.front() : joint_) = std::move(joint);
}

void policy_rows::count() {
  if (!normalizer_) return;
  for (std::size_t policy = 0; policy < seen_.size(); ++policy) {
    normalizer_->add(policy, seen_[policy], acts_[policy]);
  }
}

void policy_rows::normalize() {
  if (!normalizer_) return;
  for (std::size_t policy = 0; policy < seen_.size(); ++policy) {
    normalizer_->normalize(policy, seen_[policy]);
  }
}

std::span<const float> policy_rows::joint(std::size_t environment) const {
  const auto width = rows_->width();
  return std::span(rows_->is_single() ? seen_.front() : joint_).subspan(environment * width, width);
}

recycled_vector<float> policy_rows::rows_of(std::size_t policy,
                                            std::span<const float> joint_row) const {
  const auto width = static_cast<std::size_t>(rows_->shape_of_policy(policy).obs_size);
  recycled_vector<float> rows(rows_->agents_of(policy).size() * width);
  rows_->gather(policy, joint_row, rows);
  if (normalizer_) normalizer_->normalize(policy, rows);
  return rows;
}

}  // namespace troupe
