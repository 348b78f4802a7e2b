#include "runtime/coroutine/strand.hpp"

#include <stdexcept>
#include <utility>

namespace troupe::detail {

namespace {
thread_local strand* current_strand = nullptr;
}

strand* strand::current_or_null() noexcept { return current_strand; }

strand& strand::current() {
  if (!current_strand) {
    throw std::logic_error(
        "a coroutine was awaited outside of an actor: start it with troupe::run, or inside an "
        "endpoint");
  }
  return *current_strand;
}

strand::turn::turn(strand& s) noexcept : before_(std::exchange(current_strand, &s)) {}
strand::turn::~turn() { current_strand = before_; }

sleeper::~sleeper() {
  if (owner) owner->sleepers_.erase(place);
}

void strand::sleep(sleeper& s, time_point at) {
  s.owner = this;
  s.place = sleepers_.emplace(at, &s);
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
  while (handle) {
    handle.resume();
    handle = std::exchange(next_, nullptr);
    while (!graveyard_.empty()) {
      const auto finished = graveyard_.back();
      graveyard_.pop_back();
      finished.destroy();
    }
  }
}

void strand::run(std::coroutine_handle<> first) {
  turn mine(*this);
  step(first);
  while (!ready_.empty()) step(ready_.pop_front().handle);
}

}  // namespace troupe::detail
