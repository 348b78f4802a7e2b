#pragma once
// What happens to memory that a process has freed.

namespace troupe::detail {

/// Keeps freed memory in the process, for programs that allocate and free large blocks again and
/// again, such as messages and tensors. By default the C library returns large blocks to the system
/// each time, and allocating them again page by page costs up to a third of their use. It acts once
/// in a process; environment variables such as MALLOC_TRIM_THRESHOLD_ are overridden.
void keep_freed_memory();

}  // namespace troupe::detail
