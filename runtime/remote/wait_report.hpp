#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::detail {

/// The coroutine calls of a replica that was made for the other side of a connection; see
/// replica_waits. Slices are those of the process where the role lives. Internal to runtime/.
struct wait_report {
  struct work {
    std::uint64_t id = 0;  ///< The id of the call on the link.
    std::uint64_t slice = 0;
  };
  struct room_wait {
    std::uint64_t slice = 0;
    std::string service;
  };

  std::uint64_t ongoing = 0;
  bool full = false;
  std::vector<work> begun;
  std::vector<std::uint64_t> queued;  ///< The ids of calls.
  std::vector<room_wait> for_room;
};

}  // namespace troupe::detail
