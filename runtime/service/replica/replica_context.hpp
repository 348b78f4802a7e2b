#pragma once
// What the replicas of one system share. Internal to runtime/.

#include <memory>
#include <optional>

#include "runtime/actor/actor_context.hpp"
#include "runtime/service/call/host.hpp"
#include "runtime/service/options/fault_plan.hpp"
#include "runtime/service/options/placement.hpp"
#include "runtime/service/options/replica_info.hpp"
#include "runtime/service/replica/kept_for_successors.hpp"
#include "runtime/service/replica/local_turns.hpp"
#include "runtime/service/role/role.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

/// Called in a replica once it can serve, with its slot.
using ready_function = std::function<void(std::shared_ptr<replica_slot>)>;

/// Starts replicas whose roles live outside of this process.
class replica_provider {
 public:
  virtual ~replica_provider() = default;
  /// Starts the actor that stands here for such a replica, and returns its mailbox.
  virtual ref<inbox> start_replica(std::shared_ptr<service_state> service,
                                   std::shared_ptr<const role_factory> factory,
                                   const replica_info& info, std::shared_ptr<replica_slot> slot,
                                   ready_function ready) = 0;
};

class replica_context : public actor_context {
 public:
  /// Where replicas live that are placed elsewhere.
  virtual replica_provider& slot_provider_of(const placement& where) = 0;
  /// What ended replicas keep for those that take their places.
  const std::shared_ptr<class kept_for_successors>& kept_for_successors() noexcept { return kept_; }
  /// Null if nothing goes wrong on purpose.
  fault_source* faults() noexcept { return faults_ ? &*faults_ : nullptr; }

  /// Starts a replica whose role lives in this process, on a thread of its own where `own_thread`
  /// says so, and returns its mailbox. `faulty` says whether the system's fault plan applies to it.
  ref<inbox> start_replica(std::shared_ptr<service_state> service,
                           std::shared_ptr<const role_factory> factory, const replica_info& info,
                           std::shared_ptr<replica_slot> slot, ready_function ready, bool faulty,
                           bool own_thread);

 protected:
  replica_context(const actor_options& options, const fault_plan& faults) : actor_context(options) {
    if (faults.any()) faults_.emplace(faults, options.seed);
  }
  ~replica_context() = default;

  /// The replicas that `start_replica` has started. Empty in a deterministic system.
  class local_turns& local_turns() noexcept { return local_turns_; }

 private:
  std::optional<fault_source> faults_;
  const std::shared_ptr<class kept_for_successors> kept_ =
      std::make_shared<class kept_for_successors>(clock());
  class local_turns local_turns_;
};

}  // namespace troupe::detail
