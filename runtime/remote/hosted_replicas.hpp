#pragma once
// Metrics of the replicas that this process runs for others. Their callers, which are in other
// processes, count the calls as they see them. May be used on any thread. Internal to runtime/.

#include <prometheus/collectable.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

class hosted_replicas final : public prometheus::Collectable {
 public:
  void add(const std::string& service, std::shared_ptr<const replica_slot> slot);
  /// Removes a replica that has ended. Does nothing if it was never added.
  void remove(const std::string& service, const std::shared_ptr<const replica_slot>& slot);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  struct of_service {
    std::set<std::shared_ptr<const replica_slot>> live;
    std::uint64_t answered = 0;  ///< The calls that ended replicas have answered.
  };

  mutable std::mutex mutex_;
  std::map<std::string, of_service> services_;
};

}  // namespace troupe::detail
