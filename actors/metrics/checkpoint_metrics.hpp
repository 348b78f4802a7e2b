#pragma once
// The metrics of checkpoints.

#include <cstdint>

#include "runtime/metrics/registry.hpp"

namespace troupe {

/// The metrics that a run exports of its checkpoints. The object is cheap to copy, and must not be
/// used after the registry was destroyed. A default-constructed one does nothing.
class checkpoint_metrics {
 public:
  checkpoint_metrics() = default;
  explicit checkpoint_metrics(metrics_registry& registry);

  void written(std::int64_t step, std::size_t bytes, double seconds) const;
  /// Counts a checkpoint that could not be written, for example because the disk is full.
  void not_written() const;
  /// Counts a damaged checkpoint that was skipped.
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
