#pragma once
// The places outside this process where replicas live. Each placement has its provider. Internal to
// runtime/.

#include <exception>
#include <functional>
#include <memory>

#include "runtime/remote/connection.hpp"
#include "runtime/remote/remote_context.hpp"

namespace troupe::detail {

/// A replica's place in another process. Its destructor gives the place up, and a process that was
/// started for it ends.
class remote_slot {
 public:
  explicit remote_slot(std::shared_ptr<connection> to) : to(std::move(to)) {}
  virtual ~remote_slot() = default;
  const std::shared_ptr<connection> to;
};

class slot_provider : public replica_provider {
 public:
  using answer = std::function<void(std::shared_ptr<remote_slot>, std::exception_ptr)>;

  explicit slot_provider(remote_context& system) : system_(system) {}
  ref<inbox> start_replica(std::shared_ptr<service_state> service,
                           std::shared_ptr<const role_factory> factory, const replica_info& info,
                           std::shared_ptr<replica_slot> slot, ready_function ready) override;
  /// Finds or makes a place for one replica and calls `got` once, on any thread.
  virtual void allocate(const service_state& service, const replica_info& info, answer got) = 0;
  /// Keeps a place for a while whose replica has ended, for the replica of the same index in the
  /// next service of the same name. A provider whose places cost nothing gives it up.
  virtual void keep(const service_state& /*service*/, const replica_info& /*info*/,
                    std::shared_ptr<remote_slot> /*place*/) {}
  /// Gives up all places. It is the last call.
  virtual void close() = 0;

 protected:
  remote_context& system_;
};

}  // namespace troupe::detail
