#pragma once
// Lets a coroutine pause for a time.

#include <string>

#include "runtime/coroutine/strand.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe {

namespace detail {

/// Returns `from + by`, or time_point::max() if the sum would exceed it.
inline time_point later(time_point from, duration by) {
  return by < time_point::max() - from ? from + by : time_point::max();
}

/// The awaiter of sleep_for.
class [[nodiscard("co_await it: a pause that nobody awaits takes no time")]] sleep_awaiter {
 public:
  explicit sleep_awaiter(duration pause) : pause_(pause) {}
  bool await_ready() const noexcept { return pause_ <= duration::zero(); }
  void await_suspend(std::coroutine_handle<> h) {
    sleeper_.handle = h;
    auto& home = strand::current();
    home.sleep(sleeper_, later(home.now(), pause_));
  }
  void await_resume() const noexcept {}

 private:
  duration pause_;
  sleeper sleeper_;
};

inline task<> sleep_task(duration pause) { co_await sleep_awaiter(pause); }

/// Returns a duration as messages show it, such as "50 ms" or "1.5 s".
std::string to_text(duration d);

}  // namespace detail

/// Suspends the coroutine, not the thread, for `pause`. In a deterministic system the pause is in
/// virtual time. A pause of zero or less doesn't suspend. A pause that goes past time_point::max()
/// never ends.
inline detail::sleep_awaiter sleep_for(duration pause) { return detail::sleep_awaiter(pause); }

}  // namespace troupe
