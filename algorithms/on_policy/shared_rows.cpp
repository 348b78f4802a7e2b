#include "actors/torch.hpp"

#include "algorithms/on_policy/shared_rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace troupe::detail {
namespace {

// No row has this index: see usable_rows.
constexpr row_index blank = std::numeric_limits<row_index>::max();

}  // namespace

shared_rows::shared_rows(std::vector<row_index> own, collective& ranks) : own_(std::move(own)) {
  std::vector<double> counts(ranks.world(), 0.0);
  counts[ranks.rank()] = static_cast<double>(own_.size());
  ranks.sum(std::span<double>(counts));
  const auto first = counts.begin();
  const auto rows_in = [](auto from, auto to) {
    return static_cast<std::size_t>(std::accumulate(from, to, 0.0));
  };
  order_.assign(rows_in(first, counts.end()), blank);
  std::ranges::copy(own_, order_.begin() + rows_in(first, first + ranks.rank()));
}

std::span<const row_index> shared_rows::own(std::size_t from, std::size_t count) {
  const auto all = std::span<const row_index>(order_).subspan(from, count);
  if (own_.size() == order_.size()) return all;
  selected_.clear();
  std::ranges::copy_if(all, std::back_inserter(selected_), [](row_index r) { return r != blank; });
  return selected_;
}

std::vector<advantage_scale> advantage_scales(shared_rows& rows, std::size_t batch_size,
                                              const at::Tensor& advantage, collective& ranks) {
  const float* values = advantage.data_ptr<float>();
  const auto count = (rows.size() + batch_size - 1) / batch_size;
  const auto size_of = [&](std::size_t k) {
    return std::min(batch_size, rows.size() - k * batch_size);
  };
  std::vector<double> means(count, 0.0), squares(count, 0.0);
  for (std::size_t k = 0; k < count; ++k) {
    for (const auto row : rows.own(k * batch_size, size_of(k))) means[k] += values[row];
  }
  ranks.sum(std::span<double>(means));
  for (std::size_t k = 0; k < count; ++k) {
    means[k] /= static_cast<double>(size_of(k));
    for (const auto row : rows.own(k * batch_size, size_of(k))) {
      squares[k] += (values[row] - means[k]) * (values[row] - means[k]);
    }
  }
  ranks.sum(std::span<double>(squares));
  std::vector<advantage_scale> scales;
  for (std::size_t k = 0; k < count; ++k) {
    scales.push_back(advantage_scale_of(size_of(k), means[k], squares[k]));
  }
  return scales;
}

}  // namespace troupe::detail
