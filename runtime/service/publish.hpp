#pragma once
// Gives every replica of a service a value that a restarted replica must have, too. Internal to
// runtime/.

#include <memory>

#include "runtime/coroutine/task.hpp"
#include "runtime/service/call/call.hpp"
#include "runtime/service/options/options.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

/// Has the supervisor keep `call`, whose arguments must be copyable, and make copies of it at every
/// replica. Returns when each replica that serves has answered one. Throws as service::publish
/// does.
task<> publish(std::shared_ptr<service_state> service, call_options options, ref<call_base> call);

}  // namespace troupe::detail
