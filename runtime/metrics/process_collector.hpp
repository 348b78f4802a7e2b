#pragma once
// The metrics of the operating-system process. Internal to runtime/metrics/.

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <vector>

namespace troupe::detail {

/// Collects the metrics of this process under the names that every Prometheus client uses:
/// process_resident_memory_bytes, process_open_fds, process_max_fds, process_cpu_seconds_total,
/// process_start_time_seconds and process_threads. It adds troupe_build_info{version}. The values
/// are read from /proc at scrape time; values that can't be read are left out.
class process_collector final : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace troupe::detail
