#pragma once
// Finds the replicas of a service that take too long to start. Internal to runtime/.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/actor/clock.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

class replica_context;

/// Checks from time to time, while any replica is starting. It runs on the clock's thread, which a
/// hanging constructor can't block. May be used on any thread.
class start_watch : public std::enable_shared_from_this<start_watch> {
 public:
  using late_slots = std::vector<std::shared_ptr<replica_slot>>;
  /// `looked` is called on the clock's thread after each check, with the replicas that took longer
  /// than the service's start_timeout. They are abandoned, and the pool gets threads in place of
  /// theirs.
  start_watch(replica_context& system, std::shared_ptr<const service_state> service,
              std::function<void(late_slots)> looked);

  /// Adds the slot of a replica that is about to start.
  void add(const std::shared_ptr<replica_slot>& slot);
  /// Removes a replica that serves or has ended.
  void remove(const std::shared_ptr<replica_slot>& slot);
  /// Ends the checks. Only a check that is under way may still call `looked`.
  void close();

 private:
  void look();
  void look_later();

  replica_context& system_;
  const std::shared_ptr<const service_state> service_;
  const duration limit_;
  std::mutex mutex_;
  std::function<void(late_slots)> looked_;  ///< Null once closed.
  /// Keyed by the replica's serial.
  std::map<std::uint64_t, std::shared_ptr<replica_slot>> starting_;
  bool looks_ = false;  ///< True while the clock is set to ring.
  alarm_key next_look_;
};

}  // namespace troupe::detail
