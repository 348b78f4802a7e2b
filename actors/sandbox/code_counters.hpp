#pragma once
// The metric of programs that were run.

#include <array>

#include "actors/sandbox/code_result.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe {

/// The counters troupe_code_runs_total{end}. An end is "exited", "signalled" or the name of the
/// limit that was hit.
class code_counters {
 public:
  /// Without a registry nothing is counted.
  explicit code_counters(metrics_registry* metrics);

  void count(const code_result& result);

 private:
  static constexpr std::size_t signalled = std::size_t(code_limit::output_bytes) + 1;

  std::array<metric_counter, signalled + 1> ends_;  // first those of code_limit
};

}  // namespace troupe
