#pragma once
// The moving average that curricula and task schedules use.

#include <cstddef>
#include <numeric>
#include <vector>

namespace troupe::loops {

/// The mean of the last n values. It is summed from the values each time, so that it is the same
/// after a restore.
class recent_mean {
 public:
  explicit recent_mean(std::size_t n) : n_(n) {}

  void add(double value) {
    if (values_.size() == n_) values_.erase(values_.begin());
    values_.push_back(value);
  }
  void clear() { values_.clear(); }
  bool empty() const { return values_.empty(); }
  /// The mean of the values; 0 if there are none.
  double mean() const {
    if (empty()) return 0;
    return std::accumulate(values_.begin(), values_.end(), 0.0) /
           static_cast<double>(values_.size());
  }

  /// The values, oldest first; at most n.
  const std::vector<double>& values() const { return values_; }
  /// Replaces the values by the last n of `values`.
  void restore(std::vector<double> values) {
    clear();
    for (const double value : values) add(value);
  }

 private:
  std::size_t n_;
  std::vector<double> values_;
};

}  // namespace troupe::loops
