#include "algorithms/losses/group_advantages.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace troupe {
namespace {

/// Statistics of the rewards that exist.
struct moments {
  double count = 0, sum = 0, squares = 0;  // `squares` sums the squared distances from the mean
  bool constant = true;

  double mean() const { return count > 0 ? sum / count : 0; }
  double std() const { return count > 1 ? std::sqrt(squares / (count - 1)) : 0; }
};

moments moments_of(const group_rewards& rewards) {
  moments m;
  std::optional<double> first;
  for (const auto& r : rewards) {
    if (!r) continue;
    if (!std::isfinite(*r))
      throw std::invalid_argument("advantages_of: expected finite rewards, got " +
                                  std::to_string(*r));
    if (!first) first = r;
    m.constant = m.constant && *r == *first;
    m.count += 1;
    m.sum += *r;
  }
  for (const auto& r : rewards) {
    if (r) m.squares += (*r - m.mean()) * (*r - m.mean());
  }
  return m;
}

double advantage(advantage_kind kind, double reward, const moments& group, double batch_std,
                 double eps) {
  const double above = reward - group.mean();
  switch (kind) {
    case advantage_kind::group_std:
      return above / (group.std() + eps);
    case advantage_kind::group_mean:
      return above;
    case advantage_kind::batch_std:
      return above / (batch_std + eps);
    // R_i - (sum - R_i) / (n - 1) = n / (n - 1) (R_i - mean)
    case advantage_kind::leave_one_out:
      return above * group.count / (group.count - 1);
    case advantage_kind::reward:
      return reward;
  }
  throw std::invalid_argument("advantages_of: expected one of the kinds");
}

}  // namespace

double reward_std(const group_rewards& rewards) { return moments_of(rewards).std(); }

std::vector<std::vector<double>> advantages_of(const std::vector<group_rewards>& rewards,
                                               advantage_kind kind, double eps) {
  group_rewards all;
  for (const auto& group : rewards) all.insert(all.end(), group.begin(), group.end());
  const double batch_std = moments_of(all).std();

  std::vector<std::vector<double>> found;
  for (const auto& group : rewards) {
    const auto m = moments_of(group);
    const bool flat = m.constant || m.count < 2;
    const bool none = flat && kind != advantage_kind::reward;  // else rounding would leave a rest
    auto& row = found.emplace_back();
    for (const auto& r : group) {
      row.push_back(none || !r ? 0.0 : advantage(kind, *r, m, batch_std, eps));
    }
  }
  return found;
}

}  // namespace troupe
