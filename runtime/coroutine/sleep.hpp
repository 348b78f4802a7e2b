#pragma once

#include <string>

#include "runtime/coroutine/strand.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe {

namespace detail {

/// `from + by`, or the end of time where that is later than it.
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

/// "50 ms", "1.5 s": for messages.
std::string to_text(duration d);

}  // namespace detail

/// Suspends the coroutine, not the thread. Virtual time where the system runs on it. A pause of
/// zero or less doesn't suspend; one past the end of time never ends.
inline detail::sleep_awaiter sleep_for(duration pause) { return detail::sleep_awaiter(pause); }

}  // namespace troupe
