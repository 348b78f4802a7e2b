#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include "runtime/cluster/refusal.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe::detail {

/// Counts who was not admitted, and logs it: of each reason one in ten seconds, with how many there
/// were. For any thread.
class refusals {
 public:
  /// Without a registry nothing is counted.
  explicit refusals(metrics_registry* counted_in);
  void add(const join_refusal& why);

 private:
  struct kind {
    metric_counter counter;
    std::chrono::steady_clock::time_point logged{};
    std::size_t unsaid = 0;
  };

  std::mutex mutex_;
  std::map<std::string, kind> kinds_;  ///< By reason.
};

}  // namespace troupe::detail
