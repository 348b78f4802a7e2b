#include "actors/gradients/node.hpp"

#include <algorithm>

namespace troupe::detail {

void gradient_blocks::clear() {
  for (std::size_t i = 0; i < used_; ++i) records_[i].written.clear();
  used_ = 0;
}

gradient_blocks::record& gradient_blocks::record_of(std::span<float> gradient) {
  for (std::size_t i = 0; i < used_; ++i) {
    if (records_[i].gradient.data() == gradient.data()) return records_[i];
  }
  if (used_ == records_.size()) records_.emplace_back();
  records_[used_].gradient = gradient;
  return records_[used_++];
}

void gradient_blocks::use(const parameter_block& block) {
  if (!block.gradient.empty()) record_of(block.gradient);
}

gradient_blocks::place gradient_blocks::part(const parameter_block& block, std::size_t first,
                                             std::size_t count) {
  auto& written = record_of(block.gradient).written;
  const bool is_first =
      std::ranges::none_of(written, [&](const auto& each) { return each.first == first; });
  if (is_first) written.push_back({first, count});
  return {block.gradient.data() + first, is_first};
}

void gradient_blocks::finish() {
  for (std::size_t i = 0; i < used_; ++i) {
    auto& [gradient, written] = records_[i];
    std::ranges::sort(written, {}, &part_range::first);
    std::size_t end = 0;
    const auto zero_until = [&, to = gradient](std::size_t next) {
      if (next > end) std::ranges::fill(to.subspan(end, next - end), 0.0f);
    };
    for (const auto& each : written) {
      zero_until(each.first);
      end = each.first + each.count;
    }
    zero_until(gradient.size());
  }
}

float* graph_node::resize(int row_count, int column_count) {
  rows = row_count;
  columns = column_count;
  float* result = grown(result_, size());
  value = result;
  return result;
}

float* graph_node::open_derivative() {
  has_derivative = true;
  return grown(derivative, static_cast<std::size_t>(rows) * wanted.count);
}

}  // namespace troupe::detail
