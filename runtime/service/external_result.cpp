#include "runtime/service/external_result.hpp"

#include "runtime/service/call/host.hpp"

namespace troupe::detail {

void require_real_time(const std::string& what) {
  const auto* here = strand::current_or_null();
  if (here && static_cast<const host&>(*here).deterministic())
    throw std::logic_error(what + " comes from outside: a deterministic system can't wait for it");
}

}  // namespace troupe::detail
