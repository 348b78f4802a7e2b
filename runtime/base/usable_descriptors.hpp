#pragma once
// How many files and sockets this process may have open.

#include <cstddef>
#include <optional>

namespace troupe::detail {

/// Returns the soft limit of open descriptors (ulimit -n); nullopt if there is none.
std::optional<std::size_t> usable_descriptors();

/// Returns the number of connections that a server beside the program's own work may have open: at
/// most `wanted`, and at most an eighth of `descriptors`, so that its clients can't take those that
/// the work needs. It is at least `least`.
std::size_t bounded_connections(std::size_t wanted, std::optional<std::size_t> descriptors,
                                std::size_t least);

}  // namespace troupe::detail
