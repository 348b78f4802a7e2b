#pragma once
// The limits that a server has on a machine where the user names none.

#include <cstddef>

namespace troupe::openenv_server {

/// Returns server_options::memory_bytes_max: an eighth of the memory that the process may use, at
/// most 1 GiB, and at least what one message of that length needs.
std::size_t default_memory_bytes(std::size_t usable_memory, std::size_t message_bytes_max);

/// Returns server_options::sessions_max. 1024 sessions of environments in this process take little.
/// With `in_processes` each is a process, such as one of Python. Then it is 8 for each core, but no
/// more than half of the memory has room for at 128 MiB each, and at least 1.
std::size_t default_sessions(bool in_processes, std::size_t cores, std::size_t usable_memory);

}  // namespace troupe::openenv_server
