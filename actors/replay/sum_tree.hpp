#pragma once

#include <cstddef>
#include <vector>

namespace troupe {

/// Weights at places 0, 1, ..., and which of them a point of their line falls on, both in
/// O(log n). A node is the sum of its two children, computed anew whenever one changes: so the
/// sums depend on the weights alone and not on what they were before, and a restored tree is equal
/// bit for bit.
class sum_tree {
 public:
  /// Grows to hold `place`; all other new weights are 0. REQUIRES: weight >= 0 and finite.
  void set(std::size_t place, double weight);
  /// 0 where none was set.
  double weight(std::size_t place) const;
  double total() const;

  /// The place on which `point` falls where the weights lie one after another from 0 to total().
  /// Never one of weight 0. REQUIRES: total() > 0 and 0 <= point.
  std::size_t find(double point) const;

 private:
  std::size_t leaves() const noexcept { return nodes_.size() / 2; }
  void grow(std::size_t leaves);

  /// Node 1 is the root, 2i and 2i + 1 are the children of i, the second half are the weights.
  std::vector<double> nodes_;
};

}  // namespace troupe
