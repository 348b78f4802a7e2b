#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <memory>

#include "runtime/service/state.hpp"

namespace troupe::detail {

/// One service's metrics, made at scrape time from what its replicas count: calls pay nothing for
/// them.
class service_collector final : public prometheus::Collectable {
 public:
  explicit service_collector(std::shared_ptr<const service_state> service)
      : service_(std::move(service)) {}
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  std::shared_ptr<const service_state> service_;
};

}  // namespace troupe::detail
