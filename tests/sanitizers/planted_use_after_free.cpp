// A use after free on purpose: a coroutine's frame is destroyed while it waits, and what it waited
// for resumes it all the same. The address sanitizer must report it.
#include "runtime/coroutine/combine.hpp"
#include "runtime/system/system.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

/// Breaks the rule that an awaiter that is destroyed leaves every list that it stands in.
struct forgetful {
  std::coroutine_handle<>& kept;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h) { kept = h; }
  void await_resume() const {}
};

task<> wait_forgetfully(std::coroutine_handle<>& kept) { co_await forgetful{kept}; }

task<> resume_what_is_gone(system&) {
  std::coroutine_handle<> kept;
  co_await any(wait_forgetfully(kept), detail::sleep_task(1ms));
  detail::waiter late;
  late.handle = kept;
  detail::strand::current().wake(late);
  co_await sleep_for(1ms);
}

}  // namespace
}  // namespace troupe

int main() {
  troupe::system sys({.deterministic = true});
  sys.run(troupe::resume_what_is_gone(sys));
}
