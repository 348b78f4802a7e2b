#pragma once
// The site of replicas in child processes of their own. Internal to runtime/.

#include <memory>

#include "runtime/remote/site.hpp"

namespace troupe::detail {

class remote_context;

/// Makes a site that starts a new process for each replica. The process ends with the replica.
std::unique_ptr<site> make_process_site(remote_context& system);

}  // namespace troupe::detail
