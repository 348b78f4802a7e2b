#include "runtime/actor/clock.hpp"

#include "runtime/actor/timed_action.hpp"
#include "tests/test.hpp"

namespace troupe::detail {
namespace {

using namespace std::chrono_literals;

/// Its alarms note their names when they ring.
struct tower {
  alarm_key set(const char* name, std::chrono::milliseconds at) {
    const auto note = [this, name] { rung += name; };
    return clock.wake_at(time_point(at), ref<inbox>(new timed_action(note)));
  }
  std::string rung;
  virtual_clock clock;
};

TEST_CASE("clock: alarms ring by their time, and those of one time as they were set") {
  tower t;
  t.set("c", 2ms);
  t.set("a", 1ms);
  t.set("d", 2ms);
  t.set("b", 1ms);
  CHECK(t.clock.advance_to_next());
  CHECK(t.rung == "ab");
  CHECK(t.clock.advance_to_next());
  CHECK(t.rung == "abcd");
  CHECK_FALSE(t.clock.advance_to_next());
}

TEST_CASE("clock: alarms that are forgotten don't ring, others of the same time do") {
  tower t;
  const auto first = t.set("a", 1ms);
  t.set("b", 1ms);
  const auto later = t.set("c", 2ms);
  CHECK(t.clock.advance_to_next());
  t.set("d", 2ms);
  t.clock.forget({first, later});  // The first has rung.
  CHECK(t.clock.advance_to_next());
  CHECK(t.rung == "abd");
  CHECK_FALSE(t.clock.advance_to_next());
}

}  // namespace
}  // namespace troupe::detail
