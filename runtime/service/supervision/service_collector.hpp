#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <condition_variable>
#include <memory>
#include <mutex>

#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

/// One service's metrics, made at scrape time from what its replicas count: calls pay nothing for
/// them. It doesn't hold the service. Any thread.
class service_collector final : public prometheus::Collectable {
 public:
  /// Shows this one's. To be called before anybody collects.
  void begin(std::weak_ptr<const service_state> service) { service_ = std::move(service); }
  /// It is stopped: its gauges go.
  void stop();
  /// Its last holder has gone, and it goes next: what it has counted stays here.
  void end(const service_state& service);
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  std::weak_ptr<const service_state> service_;
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  bool stopped_ = false;
  std::optional<std::vector<prometheus::MetricFamily>> last_;  ///< Set at its end.
};

}  // namespace troupe::detail
