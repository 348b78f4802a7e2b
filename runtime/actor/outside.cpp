#include "runtime/actor/outside.hpp"

#include "runtime/actor/host.hpp"

namespace troupe::detail {

bool in_real_time() {
  const auto here = strand::current_or_null();
  return !here || !static_cast<const host&>(*here).deterministic();
}

void require_real_time(const std::string& what) {
  if (!in_real_time())
    throw std::logic_error(what + " comes from outside: a deterministic system can't wait for it");
}

}  // namespace troupe::detail
