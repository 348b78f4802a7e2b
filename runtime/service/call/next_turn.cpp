#include "runtime/service/call/next_turn.hpp"

#include <chrono>

#include "runtime/coroutine/sleep.hpp"
#include "runtime/service/call/host.hpp"

namespace troupe::detail {

constexpr auto turn_of_virtual_time = std::chrono::microseconds(1);

void next_turn_awaiter::await_suspend(std::coroutine_handle<> h) {
  waiter_.handle = h;
  auto& home = static_cast<host&>(strand::current());
  if (home.deterministic()) return home.sleep(waiter_, later(home.now(), turn_of_virtual_time));
  place_ = std::make_shared<place>(place{&home, &waiter_});
  home.self()->post_last([at = place_] {
    if (at->waiting) at->home->wake(*at->waiting);
  });
}

}  // namespace troupe::detail
