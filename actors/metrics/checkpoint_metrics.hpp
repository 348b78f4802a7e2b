#pragma once

#include <cstdint>

#include "runtime/metrics/registry.hpp"

namespace troupe {

/// What a run tells Prometheus of its checkpoints. A cheap value; it lives no longer than the
/// registry. A default constructed one tells nobody.
class checkpoint_metrics {
 public:
  checkpoint_metrics() = default;
  explicit checkpoint_metrics(metrics_registry& registry);

  void written(std::int64_t step, std::size_t bytes, double seconds) const;
  /// The disk is full, gone or not to be written to.
  void not_written() const;
  /// One that was there was damaged, and passed over.
  void refused() const;

 private:
  metric_counter ok_;
  metric_counter write_error_;
  metric_counter refused_;
  metric_gauge last_success_;
  metric_gauge step_;
  metric_gauge bytes_;
  metric_histogram duration_;
};

}  // namespace troupe
