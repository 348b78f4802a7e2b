#pragma once

#include <cstdint>

#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

/// One replica of a service in the table that is sent to the other side of a connection. Internal
/// to runtime/.
struct table_entry {
  std::size_t index = 0;
  std::uint64_t serial = 0;
  std::int64_t version = any_version;
};

}  // namespace troupe::detail
