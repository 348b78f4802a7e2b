#pragma once
// What a process does that was started to run one replica.

namespace troupe::detail {

/// This process was started by a process_site: it runs roles for its parent until that drops it or
/// dies, and does not return. Does nothing in a process that is no such child.
void serve_parent_if_child();

/// Whether this program's main has called that: else its children would run main itself.
bool can_have_children();

}  // namespace troupe::detail
