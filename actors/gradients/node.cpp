#include "actors/gradients/node.hpp"

#include <algorithm>

namespace troupe::detail {

void gradient_blocks::clear() {
  for (std::size_t i = 0; i < used_; ++i) {
    records_[i].written.clear();
    records_[i].overlaps = false;
  }
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

void gradient_blocks::record::zero_gaps(std::size_t first, std::size_t last) {
  std::ranges::sort(written, {}, &part_range::first);
  const auto zero_until = [&](std::size_t end) {
    if (end > first) std::ranges::fill(gradient.subspan(first, end - first), 0.0f);
  };
  for (const auto& each : written) {
    zero_until(std::min(each.first, last));
    first = std::max(first, each.first + each.count);
  }
  zero_until(last);
}

bool gradient_blocks::record::is_covered() const {
  std::size_t count = 0;
  for (const auto& each : written) count += each.count;
  return !overlaps && count == gradient.size();
}

void gradient_blocks::use(const parameter_block& block) {
  if (!block.gradient.empty()) record_of(block.gradient);
}

gradient_blocks::place gradient_blocks::part(const parameter_block& block, std::size_t first,
                                             std::size_t count) {
  auto& of = record_of(block.gradient);
  float* to = block.gradient.data() + first;
  bool is_first = true;
  for (const auto& each : of.written) {
    if (each.first == first && each.count == count) return {to, false};
    if (each.first < first + count && first < each.first + each.count) is_first = false;
  }
  if (!is_first) {
    of.overlaps = true;
    of.zero_gaps(first, first + count);
  }
  of.written.push_back({first, count});
  return {to, is_first};
}

void gradient_blocks::finish() {
  for (std::size_t i = 0; i < used_; ++i) {
    auto& each = records_[i];
    if (each.is_covered()) continue;
    each.zero_gaps(0, each.gradient.size());
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
