#pragma once
// A tree of sums for drawing in proportion to weights, for prioritised replay.

#include <cstddef>
#include <vector>

namespace troupe {

/// A tree with weights at the places 0, 1, ... Setting a weight, and finding the place on which a
/// point of the line of weights falls, take O(log n). A node is the sum of its two children and is
/// computed anew whenever one changes. So the sums depend only on the current weights, and a
/// restored tree is equal bit for bit.
class sum_tree {
 public:
  /// Sets a weight. The tree grows to hold `place`; all other new weights are 0. REQUIRES: weight
  /// >= 0 and finite.
  void set(std::size_t place, double weight);
  /// Returns a weight; 0 if it was never set.
  double weight(std::size_t place) const;
  double total() const;

  /// Returns the place on which `point` falls if the weights lie one after another from 0 to
  /// total(). It never returns a place of weight 0. REQUIRES: total() > 0 and 0 <= point.
  std::size_t find(double point) const;

 private:
  std::size_t leaves() const noexcept { return nodes_.size() / 2; }
  void grow(std::size_t leaves);

  /// Node 1 is the root, 2i and 2i + 1 are the children of i, the second half are the weights.
  std::vector<double> nodes_;
};

}  // namespace troupe
