#pragma once
// The metrics of updates for progress.csv, and their means over gradient steps.

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace troupe {

/// A number of one gradient step with its name in progress.csv, such as "train/loss".
struct named_number {
  const char* name = "";  ///< A literal.
  double value = 0.0;
};

/// Numbers with their names in progress.csv.
using named_values = std::vector<std::pair<std::string, double>>;

/// Means of named numbers over gradient steps. Learners report them to progress.csv.
class metric_means {
 public:
  void add(std::span<const named_number> of_step);
  /// The mean of each number over the steps that had it. TD3's actor loss, for example, is averaged
  /// over the steps that trained the actor.
  named_values means() const;
  void clear() { sums_.clear(); }

  auto wire_members() { return std::tie(sums_); }

 private:
  struct sum {
    std::string name;
    double total = 0;
    std::int64_t count = 0;
  };
  std::vector<sum> sums_;
};

}  // namespace troupe
