#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include "runtime/cluster/refusal.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe::detail {

/// Counts refused peers and logs them. Of each reason it logs at most one in ten seconds, with the
/// number of those that were not logged. May be used on any thread.
class refusals {
 public:
  /// A null registry counts nothing.
  explicit refusals(metrics_registry* counted_in);
  void add(const join_refusal& why);

 private:
  struct kind {
    metric_counter counter;
    std::chrono::steady_clock::time_point logged{};
    std::size_t unsaid = 0;
  };

  std::mutex mutex_;
  std::map<std::string, kind> kinds_;  ///< Keyed by reason.
};

}  // namespace troupe::detail
