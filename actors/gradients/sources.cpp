#include "actors/gradients/sources.hpp"

#include "actors/gradients/size_checks.hpp"

namespace troupe::detail {

void constant_node::forward(std::span<const float> numbers, int column_count) {
  rows = whole_rows(numbers, column_count);
  columns = column_count;
  value = numbers.data();
}

void parameter_node::forward(const parameter_block& block, std::size_t first, int row_count,
                             int column_count, gradient_blocks& blocks) {
  require_within(first, row_count, column_count, block.values.size());
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
