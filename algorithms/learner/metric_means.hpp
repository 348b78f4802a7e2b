#pragma once
// Averages the metrics of gradient steps for progress.csv. off_policy_trainer uses it.

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace troupe {

/// Numbers of one gradient step with their names in progress.csv, such as "train/loss".
using named_values = std::vector<std::pair<std::string, double>>;

/// Means of named numbers over gradient steps. Learners report them to progress.csv.
class metric_means {
 public:
  void add(const named_values& of_step);
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
