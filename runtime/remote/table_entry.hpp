#pragma once

#include <cstdint>

#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

/// A replica of a service, as a connection's other side is told of it. Internal to runtime/.
struct table_entry {
  std::size_t index = 0;
  std::uint64_t serial = 0;
  std::int64_t version = any_version;
};

}  // namespace troupe::detail
