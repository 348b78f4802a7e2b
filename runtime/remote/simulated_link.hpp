#pragma once
// A link inside one deterministic system, where replicas elsewhere are simulated: its messages come
// late, twice and out of order, and it breaks, as the system's fault_source draws.

#include <memory>
#include <utility>

#include "runtime/remote/link.hpp"

namespace troupe::detail {

class system_core;

/// Both ends.
std::pair<std::shared_ptr<link>, std::shared_ptr<link>> make_simulated_link(system_core& system);

}  // namespace troupe::detail
