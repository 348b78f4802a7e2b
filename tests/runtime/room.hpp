#pragma once
// What the tests of sessions share: a role for one guest at a time.

#include "runtime/coroutine/sleep.hpp"
#include "runtime/system/system.hpp"

namespace troupe::testing {

/// Knows whether two conversations with it have overlapped.
struct room {
  task<> visit(int guest) {
    if (inside != 0 && inside != guest) overlapped = true;
    inside = guest;
    co_await sleep_for(std::chrono::milliseconds(10));
  }
  void leave(int guest) {
    if (inside != guest) overlapped = true;
    inside = 0;
  }
  void die() { throw fatal("asked to"); }
  bool was_overlapped() { return overlapped; }

  int inside = 0;
  bool overlapped = false;
};

inline task<> stay(session<room> mine, int guest) {
  for (int i = 0; i < 3; ++i) co_await mine.route<&room::visit>(guest);
  co_await mine.route<&room::leave>(guest);
}

}  // namespace troupe::testing
