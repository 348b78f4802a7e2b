#pragma once
// What fanning a call out does for every endpoint alike. Internal to runtime/.

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

#include "runtime/coroutine/task.hpp"
#include "runtime/service/call/call.hpp"
#include "runtime/service/options/options.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

/// Is told of a call's end: the place of its replica in the service's table, and either the call,
/// which has the value, or its error.
using call_listener =
    std::function<void(std::size_t place, call_base* answered, std::exception_ptr error)>;

/// Waits until a replica serves, and then for the ends of copies of `call` at all replicas that
/// serve. `told` hears of each end, but not of a replica that was removed before it was asked.
/// Throws call_error if no replica could be asked. The call's arguments must be copyable.
task<> call_each(std::shared_ptr<service_state> service, call_options options, ref<call_base> call,
                 call_listener told);

}  // namespace troupe::detail
