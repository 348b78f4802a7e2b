#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/advantage_normalization.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::detail {
namespace {

/// The scale for `rows` advantages. `squares` is the sum of their squared distances from `mean`.
advantage_scale scale_of(std::size_t rows, double mean, double squares) {
  if (rows < 2) return {};
  const double deviation = std::sqrt(squares / static_cast<double>(rows - 1));
  return {static_cast<float>(mean), static_cast<float>(1.0 / (deviation + 1e-8))};
}

/// The scale of each minibatch of `batch_size` rows, from the rows of all ranks.
std::vector<advantage_scale> scales_over_ranks(row_order& order, std::size_t batch_size,
                                               const float* advantage, const rank_group& ranks) {
  const auto count = (order.size() + batch_size - 1) / batch_size;
  const auto size_of = [&](std::size_t k) {
    return std::min(batch_size, order.size() - k * batch_size);
  };
  std::vector<double> means(count, 0.0), squares(count, 0.0);
  for (std::size_t k = 0; k < count; ++k) {
    for (const auto row : order.own(k * batch_size, size_of(k))) means[k] += advantage[row];
  }
  ranks.sum(std::span<double>(means));
  for (std::size_t k = 0; k < count; ++k) {
    means[k] /= static_cast<double>(size_of(k));
    for (const auto row : order.own(k * batch_size, size_of(k))) {
      squares[k] += (advantage[row] - means[k]) * (advantage[row] - means[k]);
    }
  }
  ranks.sum(std::span<double>(squares));
  std::vector<advantage_scale> scales;
  for (std::size_t k = 0; k < count; ++k) {
    scales.push_back(scale_of(size_of(k), means[k], squares[k]));
  }
  return scales;
}

}  // namespace

advantage_scale scale_of(std::span<const float> advantage) {
  double mean = 0.0;
  for (const float a : advantage) mean += a;
  mean /= static_cast<double>(advantage.size());
  double squares = 0.0;
  for (const float a : advantage) squares += (a - mean) * (a - mean);
  return scale_of(advantage.size(), mean, squares);
}

at::Tensor normalized(const at::Tensor& advantage) {
  if (advantage.size(0) < 2) return advantage;
  return (advantage - advantage.mean()) / (advantage.std(/*unbiased=*/true) + 1e-8);
}

void advantage_normalization::begin_epoch(row_order& order, std::size_t batch_size,
                                          const at::Tensor& advantage, const rank_group& ranks) {
  if (!wanted_ || ranks.is_alone()) return;
  of_ranks_ = scales_over_ranks(order, batch_size, advantage.data_ptr<float>(), ranks);
}

void advantage_normalization::apply(minibatch& to, std::size_t index) const {
  if (!wanted_) return;
  const auto advantage = to.advantage();
  if (const auto acted = to.acted()) {
    std::vector<float> of_policy;
    for (const auto row : *acted) of_policy.push_back(advantage[static_cast<std::size_t>(row)]);
    const auto by = scale_of(of_policy);
    for (auto& a : advantage) a = by.scale * (a - by.mean);
    return;
  }
  if (of_ranks_.empty() && !fused_) {
    const auto all = at::from_blob(advantage.data(), {std::ssize(advantage)}, at::kFloat);
    all.copy_(normalized(all));
    return;
  }
  const auto by = of_ranks_.empty() ? scale_of(advantage) : of_ranks_[index];
  for (auto& a : advantage) a = by.scale * (a - by.mean);
}

}  // namespace troupe::detail
