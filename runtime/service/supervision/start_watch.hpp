#pragma once
// Sees which of a service's replicas take too long to start. Internal to runtime/.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/actor/clock.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

class replica_context;

/// Looks now and then on the clock's thread, which no constructor that hangs can hold, while any
/// replica is starting. Any thread.
class start_watch : public std::enable_shared_from_this<start_watch> {
 public:
  using late_slots = std::vector<std::shared_ptr<replica_slot>>;
  /// `looked` is called after each look, on the clock's thread, with those that took longer than
  /// the service's start_timeout: they are abandoned, and a thread takes the place of theirs.
  start_watch(replica_context& system, std::shared_ptr<const service_state> service,
              std::function<void(late_slots)> looked);

  /// A replica of that slot is about to start.
  void add(const std::shared_ptr<replica_slot>& slot);
  /// It serves, or has ended.
  void remove(const std::shared_ptr<replica_slot>& slot);
  /// Nobody is told anything from here on, but by a look that is under way.
  void close();

 private:
  void look();
  void look_later();

  replica_context& system_;
  const std::shared_ptr<const service_state> service_;
  const duration limit_;
  std::mutex mutex_;
  std::function<void(late_slots)> looked_;                           ///< Null: closed.
  std::map<std::uint64_t, std::shared_ptr<replica_slot>> starting_;  ///< By serial.
  bool looks_ = false;                                               ///< The clock will ring:
  alarm_key next_look_;
};

}  // namespace troupe::detail
