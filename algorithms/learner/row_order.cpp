#include "algorithms/learner/row_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace troupe::detail {
namespace {

// An index that no row has, because usable_rows limits the number of rows.
constexpr row_index blank = std::numeric_limits<row_index>::max();

}  // namespace

void shuffle(std::span<row_index> index, action_random& random) {
  for (std::size_t left = index.size(); left > 1; --left) {
    std::swap(index[left - 1], index[random.below(left)]);
  }
}

row_order::row_order(std::vector<row_index> own, const rank_group& ranks) : own_(std::move(own)) {
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

std::span<const row_index> row_order::own(std::size_t from, std::size_t count) {
  const auto all = std::span<const row_index>(order_).subspan(from, count);
  if (own_.size() == order_.size()) return all;
  selected_.clear();
  std::ranges::copy_if(all, std::back_inserter(selected_), [](row_index r) { return r != blank; });
  return selected_;
}

}  // namespace troupe::detail
