#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <condition_variable>
#include <memory>
#include <mutex>

#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

/// The metrics of one service, made from the counts of its replicas when they are scraped, so that
/// calls pay nothing for them. The collector doesn't hold the service. May be used on any thread.
class service_collector final : public prometheus::Collectable {
 public:
  /// Sets the service. Call it before anybody collects.
  void begin(std::weak_ptr<const service_state> service) { service_ = std::move(service); }
  /// Drops the gauges, because the service is stopped.
  void stop();
  /// Keeps the counts of a service whose last holder has gone.
  void end(const service_state& service);
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  std::weak_ptr<const service_state> service_;
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  bool stopped_ = false;
  /// The last counts; set at the service's end.
  std::optional<std::vector<prometheus::MetricFamily>> last_;
};

}  // namespace troupe::detail
