#pragma once
// A caller's place in the line of those who wait for room at a service.

#include <cstdint>
#include <string>

#include "runtime/service/state/replica_slot.hpp"

namespace troupe::detail {

/// Something in a service's line, on an actor of its own.
class line_member {
 public:
  /// Room may have come, or a replica, or the service's end.
  virtual void called_up() = 0;
  /// It waits for room in a cycle of full services that can't go on.
  virtual void in_cycle(const std::string& /*members*/) {}

 protected:
  ~line_member() = default;
};

/// A place in a service's line. It is kept when its member was called up in vain.
struct ticket {
  ref<inbox> who;
  replica_slot* only = nullptr;            ///< Room at this replica; null: at any.
  std::int64_t min_version = any_version;  ///< Room at one of this version or a newer one.
  priority urgency = priority::normal;
  std::uint64_t by_slice = 0;      ///< The strand::slice of who waits.
  line_member* waiting = nullptr;  ///< Its actor's alone; null once it has given up.

  // The service's, under its lock.
  std::uint64_t number = 0;                  ///< In order of coming; 0: it has not come yet.
  bool in_line = false;                      ///< False while it is called up.
  const replica_slot* called_for = nullptr;  ///< Whose room it was called up for.
};

}  // namespace troupe::detail
