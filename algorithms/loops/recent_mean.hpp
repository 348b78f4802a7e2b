#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace troupe::loops {

/// The last n values. Summed anew each time, so that it is the same after a restore.
class recent_mean {
 public:
  explicit recent_mean(std::size_t n) : n_(n) {}

  void add(double value) {
    if (values_.size() == n_) values_.erase(values_.begin());
    values_.push_back(value);
  }
  void clear() { values_.clear(); }
  bool empty() const { return values_.empty(); }
  /// 0 if there is none.
  double mean() const {
    if (empty()) return 0;
    return std::accumulate(values_.begin(), values_.end(), 0.0) /
           static_cast<double>(values_.size());
  }

  /// Oldest first, at most n.
  const std::vector<double>& values() const { return values_; }
  /// Keeps the last n of them.
  void restore(std::vector<double> values) {
    clear();
    for (const double value : values) add(value);
  }

 private:
  std::size_t n_;
  std::vector<double> values_;
};

}  // namespace troupe::loops
