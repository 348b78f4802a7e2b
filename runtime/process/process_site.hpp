#pragma once
// Replicas in child processes of their own.

#include <memory>

#include "runtime/remote/site.hpp"

namespace troupe::detail {

class remote_context;

/// Each replica gets a new process, which ends with it.
std::unique_ptr<site> make_process_site(remote_context& system);

}  // namespace troupe::detail
