#include "runtime/base/usable_descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace troupe::detail {

std::optional<std::size_t> usable_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return static_cast<std::size_t>(limit.rlim_cur);
}

std::size_t bounded_connections(std::size_t wanted, std::optional<std::size_t> descriptors,
                                std::size_t least) {
  if (!descriptors) return wanted;
  return std::min(wanted, std::max(least, *descriptors / 8));
}

}  // namespace troupe::detail
