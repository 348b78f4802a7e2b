#pragma once
// A caller's place in the queue of those who wait for room at a service.

#include <cstdint>
#include <string>

#include "runtime/service/state/replica_slot.hpp"

namespace troupe::detail {

/// A member of a service's queue, such as a waiting call. It runs on its own actor.
class queue_waiter {
 public:
  /// Called when there may be room, a new replica, or the service's end.
  virtual void notified() = 0;
  /// Called when it waits for room in a cycle of full services that can't go on.
  virtual void in_cycle(const std::string& /*members*/) {}

 protected:
  ~queue_waiter() = default;
};

/// A place in a service's queue. A member that was notified in vain keeps its place.
struct ticket {
  ref<inbox> who;
  replica_slot* only = nullptr;            ///< Waits for room at this replica; null means any.
  std::int64_t min_version = any_version;  ///< Waits for a replica of this version or newer.
  priority urgency = priority::normal;
  std::uint64_t by_slice = 0;       ///< The strand::slice of the waiting caller.
  queue_waiter* waiting = nullptr;  ///< Used by its actor only; null once it has given up.

  // The service's lock guards these.
  std::uint64_t number = 0;                  ///< The order of arrival; 0 before it has arrived.
  bool queued = false;                       ///< False while it is notified.
  const replica_slot* called_for = nullptr;  ///< The replica whose room it was notified for.
};

/// Tells whoever waits with the ticket that it waits in a cycle of full services. May be called on
/// any thread.
inline void end_in_cycle(const std::shared_ptr<ticket>& t, const std::string& members) {
  t->who->post([t, members] {
    if (t->waiting) t->waiting->in_cycle(members);
  });
}

}  // namespace troupe::detail
