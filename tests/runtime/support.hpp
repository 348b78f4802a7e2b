#pragma once
// What the tests of runtime/ share: a program in virtual time, objects that count themselves, and
// errors by kind.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/scarcity.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/system/system.hpp"
#include "tests/captured_stream.hpp"
#include "tests/test.hpp"

namespace troupe::testing {

using namespace std::chrono_literals;

/// Silences the log: these tests kill replicas by the thousand.
inline void log_off() { log::set_level("off"); }

/// 1, or what TROUPE_PLAY_SEED says: a test holds in every order of turns.
inline std::uint64_t play_seed() {
  const char* given = std::getenv("TROUPE_PLAY_SEED");
  return given ? std::stoull(given) : 1;
}

/// Runs a program on this thread, in virtual time, in the order drawn from `seed`.
inline void play(task<> (*main)(system&), std::uint64_t seed = play_seed()) {
  log_off();
  system sys({.deterministic = true, .seed = seed});
  sys.run(main(sys));
}

/// Lets no thread of the runtime be started while it lives.
struct no_thread_left {
  no_thread_left() {
    detail::set_scarcity([] { return true; });
  }
  ~no_thread_left() { detail::set_scarcity(nullptr); }
};

/// Counts the live objects of its type.
struct tracked {
  static inline std::atomic<int> live{0};
  tracked() { ++live; }
  tracked(const tracked&) { ++live; }
  tracked& operator=(const tracked&) = default;
  ~tracked() { --live; }
};

/// The text of "kind: message" that the task threw; "none" if it threw nothing.
template <class T>
task<std::string> error_of(task<T> work) {
  try {
    co_await work;
  } catch (const std::exception& e) {
    co_return e.what();
  }
  co_return "none";
}

/// The kind of an outcome's error; throws if it has none or one that is no call_error.
template <class T>
error_kind kind_of(const outcome<T>& o) {
  try {
    o.value();
  } catch (const call_error& e) {
    return e.kind();
  }
  throw std::logic_error("expected a call_error, got a value");
}

/// Matches a text that holds `part`.
inline auto has_text(const std::string& part) { return Catch::Contains(part); }

inline bool starts_with(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}

}  // namespace troupe::testing
