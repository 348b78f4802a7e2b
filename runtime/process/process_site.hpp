#pragma once
// Replicas in child processes of their own.

#include <memory>

#include "runtime/remote/site.hpp"

namespace troupe::detail {

class system_core;

/// Each replica gets a new process, which ends with it.
std::unique_ptr<site> make_process_site(system_core& system);

/// This process was started by a process_site: it runs roles for its parent until that drops it or
/// dies, and does not return. Does nothing in a process that is no such child.
void serve_parent_if_child();

/// Whether this program's main has called that: else its children would run main itself.
bool can_have_children();

}  // namespace troupe::detail
