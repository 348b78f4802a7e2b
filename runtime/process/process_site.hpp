#pragma once
// The site of replicas in child processes of their own. Internal to runtime/.

#include <memory>

#include "runtime/remote/site.hpp"

namespace troupe::detail {

class system_core;

/// Makes a site that starts a new process for each replica. The process ends with the replica.
std::unique_ptr<site> make_process_site(system_core& system);

/// Runs roles for the parent if a process_site started this process, until the parent drops it or
/// dies, and doesn't return. Does nothing in any other process.
void serve_parent_if_child();

/// True if this program's main has called serve_parent_if_child. Otherwise its children would run
/// main.
bool can_have_children();

}  // namespace troupe::detail
