#pragma once
// What a process does that was started to run one replica.

namespace troupe::detail {

/// Runs roles for the parent if a process_slot_provider started this process, until the parent
/// drops it or dies, and doesn't return. Does nothing in any other process.
void serve_parent_if_child();

/// True if this program's main has called serve_parent_if_child. Otherwise its children would run
/// main.
bool can_have_children();

}  // namespace troupe::detail
