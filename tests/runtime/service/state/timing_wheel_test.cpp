#include "runtime/service/state/timing_wheel.hpp"

#include "tests/test.hpp"

namespace troupe::detail {
namespace {

using namespace std::chrono_literals;

struct timer : timing_wheel::entry {
  explicit timer(int name) : name(name) {}
  int name;
};

std::vector<int> expire(timing_wheel& wheel, time_point now) {
  std::vector<int> names;
  wheel.expire(now, [&](timing_wheel::entry& e) { names.push_back(static_cast<timer&>(e).name); });
  return names;
}

constexpr time_point start{10h};

}  // namespace

TEST_CASE("timing wheel: an entry expires at its time or up to one granule later, once") {
  timing_wheel wheel;
  timer t(1);
  wheel.enter(t, start + 52ms, start);
  CHECK(expire(wheel, start + 51ms).empty());
  CHECK(!wheel.empty());
  CHECK(expire(wheel, start + 60ms) == std::vector<int>{1});
  CHECK(wheel.empty());
  CHECK(expire(wheel, start + 100s).empty());
}

TEST_CASE("timing wheel: entries expire in the order of their times, however far ahead") {
  timing_wheel wheel;
  timer soon(1), later(2), much_later(3);
  wheel.enter(much_later, start + 1h, start);
  wheel.enter(later, start + 6s, start);
  wheel.enter(soon, start + 1s, start);
  CHECK(expire(wheel, start + 2s) == std::vector<int>{1});
  CHECK(expire(wheel, start + 7s) == std::vector<int>{2});
  CHECK(expire(wheel, start + 59min).empty());
  CHECK(expire(wheel, start + 61min) == std::vector<int>{3});
}

TEST_CASE("timing wheel: what left or was destroyed does not expire") {
  timing_wheel wheel;
  timer left(1), kept(2);
  {
    timer destroyed(3);
    wheel.enter(destroyed, start + 10ms, start);
    wheel.enter(left, start + 10ms, start);
    wheel.enter(kept, start + 10ms, start);
  }
  left.leave();
  CHECK(expire(wheel, start + 1s) == std::vector<int>{2});
  CHECK(wheel.empty());
}

TEST_CASE("timing wheel: an entry may enter again, also while it expires") {
  timing_wheel wheel;
  timer t(1);
  wheel.enter(t, start + 10ms, start);
  wheel.enter(t, start + 100ms, start);
  CHECK(expire(wheel, start + 50ms).empty());
  int times = 0;
  for (auto now = start; now < start + 1s; now += 20ms) {
    wheel.expire(now, [&](timing_wheel::entry& e) {
      ++times;
      wheel.enter(e, now + 100ms, now);
    });
  }
  CHECK(times >= 6);
  CHECK(times <= 9);
}

TEST_CASE("timing wheel: a time that has passed expires at the next look") {
  timing_wheel wheel;
  timer t(1);
  wheel.enter(t, start - 5s, start);
  CHECK(wheel.next() <= start + 5ms);
  CHECK(expire(wheel, start + 5ms) == std::vector<int>{1});
}

}  // namespace troupe::detail
