#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <memory>

#include "runtime/actor/pool_watch.hpp"

namespace troupe::detail {

/// The metrics of the threads that run a system's actors. May be used on any thread.
class pool_collector final : public prometheus::Collectable {
 public:
  explicit pool_collector(std::shared_ptr<const pool_findings> findings)
      : findings_(std::move(findings)) {}
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::shared_ptr<const pool_findings> findings_;
};

}  // namespace troupe::detail
