#pragma once
// A caller's place in the line of those who wait for room at a service.

#include <cstdint>
#include <string>

#include "runtime/service/state/replica_slot.hpp"

namespace troupe::detail {

/// A member of a service's line, such as a waiting call. It runs on its own actor.
class line_member {
 public:
  /// Called when there may be room, a new replica, or the service's end.
  virtual void called_up() = 0;
  /// Called when it waits for room in a cycle of full services that can't go on.
  virtual void in_cycle(const std::string& /*members*/) {}

 protected:
  ~line_member() = default;
};

/// A place in a service's line. A member that was called up in vain keeps its place.
struct ticket {
  ref<inbox> who;
  replica_slot* only = nullptr;            ///< Waits for room at this replica; null means any.
  std::int64_t min_version = any_version;  ///< Waits for a replica of this version or newer.
  priority urgency = priority::normal;
  std::uint64_t by_slice = 0;      ///< The strand::slice of the waiting caller.
  line_member* waiting = nullptr;  ///< Used by its actor only; null once it has given up.

  // The service's lock guards these.
  std::uint64_t number = 0;                  ///< The order of arrival; 0 before it has arrived.
  bool in_line = false;                      ///< False while it is called up.
  const replica_slot* called_for = nullptr;  ///< The replica whose room it was called up for.
};

}  // namespace troupe::detail
