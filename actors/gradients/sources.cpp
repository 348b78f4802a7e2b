#include "actors/gradients/sources.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace troupe::detail {

void constant_node::forward(std::span<const float> numbers, int column_count) {
  if (column_count < 1 || numbers.size() % column_count != 0) {
    throw std::invalid_argument(fmt::format("graph: {} numbers in rows of {}, expected whole rows",
                                            numbers.size(), column_count));
  }
  rows = static_cast<int>(numbers.size() / column_count);
  columns = column_count;
  value = numbers.data();
}

void parameter_node::forward(const parameter_block& block, std::size_t first, int row_count,
                             int column_count, gradient_blocks& blocks) {
  const auto count = static_cast<std::size_t>(row_count) * column_count;
  if (first + count > block.values.size()) {
    throw std::invalid_argument(
        fmt::format("graph: a matrix [{}, {}] from parameter {} on, "
                    "expected one within a block of {}",
                    row_count, column_count, first, block.values.size()));
  }
  block_ = block;
  first_ = first;
  blocks_ = &blocks;
  rows = row_count;
  columns = column_count;
  value = block.values.data() + first;
  blocks.use(block);
  want(!block.gradient.empty());
}

void parameter_node::backward() {
  const auto [to, is_first] = blocks_->part(block_, first_, size());
  for (std::size_t i = 0; i < size(); ++i) to[i] = is_first ? derivative[i] : to[i] + derivative[i];
}

}  // namespace troupe::detail
