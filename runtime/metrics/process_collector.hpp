#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <vector>

namespace troupe::detail {

/// This process, under the names every Prometheus client uses, read from /proc at scrape time:
/// process_resident_memory_bytes, process_open_fds, process_max_fds, process_cpu_seconds_total,
/// process_start_time_seconds, process_threads; and troupe_build_info{version}. What can't be read
/// is left out.
class process_collector final : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace troupe::detail
