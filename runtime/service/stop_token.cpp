#include "runtime/service/stop_token.hpp"

#include "runtime/service/call/host.hpp"

namespace troupe {

std::stop_token system_stop_token() {
  const auto* host = detail::host::current_or_null();
  return host ? host->system_ends() : std::stop_token();
}

}  // namespace troupe
