#pragma once
// What a call that a handle makes is awaited by.

#include "runtime/service/call/call.hpp"
#include "runtime/service/call/pending_call.hpp"

namespace troupe::detail {

/// The awaitable that `handle.route<F>(...)` returns.
template <auto F, class Role>
class [[nodiscard("co_await it: a call that nobody awaits is never sent")]] routed_call final
    : public pending_call {
 public:
  using result_type = typename endpoint_of<F>::result;
  using pending_call::pending_call;
  result_type await_resume() {
    check();
    return static_cast<call_of<F, Role>&>(call()).take();
  }
};

}  // namespace troupe::detail
