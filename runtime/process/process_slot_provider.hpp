#pragma once
// The provider of places in child processes of their own. Internal to runtime/.

#include <memory>

#include "runtime/remote/slot_provider.hpp"

namespace troupe::detail {

class remote_context;

/// Makes a provider that starts a new process for each replica. The process ends with the replica.
std::unique_ptr<slot_provider> make_process_slot_provider(remote_context& system);

}  // namespace troupe::detail
