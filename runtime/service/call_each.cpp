#include "runtime/service/call_each.hpp"

#include <vector>

#include "runtime/coroutine/combine.hpp"
#include "runtime/service/call/pending_call.hpp"
#include "runtime/service/session.hpp"

namespace troupe::detail {

namespace {

/// Sets `asked` unless the replica was removed before.
task<> call_one(service_state& service, const call_options& options, ref<call_base> call,
                std::shared_ptr<replica_slot> slot, std::size_t place, const call_listener& told,
                bool& asked) {
  untyped_call pending(service, options, std::move(call), std::move(slot), false);
  std::exception_ptr error;
  try {
    auto& answered = co_await pending;
    asked = true;
    told(place, &answered, nullptr);
    co_return;
  } catch (...) {
    error = std::current_exception();
  }
  if (was_removed(error)) co_return;
  asked = true;
  told(place, nullptr, error);
}

}  // namespace

task<> call_each(std::shared_ptr<service_state> service, call_options options, ref<call_base> call,
                 call_listener told) {
  for (bool asked = false; !asked;) {
    const auto table = co_await open_table(service, options);
    const auto at_once = options.at_once == 0 ? table->size() : options.at_once;
    for (std::size_t next = 0; next < table->size();) {
      std::vector<task<>> calls;
      for (; calls.size() < at_once && next < table->size(); ++next) {
        calls.push_back(
            call_one(*service, options, call->again(), (*table)[next], next, told, asked));
      }
      co_await all(std::move(calls));
    }
  }
}

}  // namespace troupe::detail
