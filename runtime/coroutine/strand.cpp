#include "runtime/coroutine/strand.hpp"

#include <stdexcept>

namespace troupe::detail {

void strand::refuse_outside() {
  throw std::logic_error(
      "a coroutine was awaited outside of an actor: start it with troupe::run, or inside an "
      "endpoint");
}

sleeper::~sleeper() {
  if (owner) owner->sleepers_.erase(place);
}

void strand::sleep(sleeper& s, time_point at) {
  s.owner = this;
  // Most sleepers wake later than those before them.
  s.place = sleepers_.emplace_hint(sleepers_.end(), at, &s);
}

void strand::wake_sleepers(time_point now) {
  while (!sleepers_.empty() && sleepers_.begin()->first <= now) {
    sleeper& s = *sleepers_.begin()->second;
    sleepers_.erase(sleepers_.begin());
    s.owner = nullptr;
    wake(s);
  }
}

time_point strand::next_sleeper() const noexcept {
  return sleepers_.empty() ? time_point::max() : sleepers_.begin()->first;
}

void strand::step(std::coroutine_handle<> handle) {
  while (handle && !stopped_) {
    handle.resume();
    handle = std::exchange(next_, nullptr);
  }
}

bool strand::run() {
  if (ready_.empty()) return false;
  turn mine(*this);
  while (!ready_.empty() && !stopped_) {
    const auto& next = ready_.pop_front();
    slice = next.slice;
    step(next.handle);
  }
  return true;
}

}  // namespace troupe::detail
