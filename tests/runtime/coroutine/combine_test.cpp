#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

task<int> value_after(int n, duration pause) {
  tracked here;
  co_await sleep_for(pause);
  co_return n;
}
task<int> throw_after(duration pause) {
  tracked here;
  co_await sleep_for(pause);
  throw std::runtime_error("thrown late");
}
task<> rest(duration pause) {
  tracked here;
  co_await sleep_for(pause);
}
task<> fail_after(duration pause) {
  tracked here;
  co_await sleep_for(pause);
  throw std::runtime_error("thrown late");
}
task<int> value_at_once(int n) { co_return n; }
time_point time_now() { return detail::strand::current().now(); }

template <class T, class... Ts>
std::vector<task<T>> list_of(task<T> first, Ts... others) {
  std::vector<task<T>> tasks;
  tasks.push_back(std::move(first));
  (tasks.push_back(std::move(others)), ...);
  return tasks;
}

// ---- all

task<> all_of_several_types(system&) {
  const auto both = co_await all(value_after(1, 5ms), rest(7ms));
  CHECK(std::get<0>(both) == 1);
  const auto many = co_await all(list_of(value_after(1, 9ms), value_after(2, 5ms)));
  CHECK(many == std::vector<int>{1, 2});
  std::vector<task<>> none;
  co_await all(std::move(none));
}

task<> all_at_the_same_time(system&) {
  const auto start = time_now();
  co_await all(list_of(rest(10ms), rest(10ms), rest(10ms)));
  CHECK(time_now() - start < 20ms);
}

task<> all_cancels_on_error(system&) {
  const auto start = time_now();
  const auto error = co_await error_of(all(list_of(value_after(1, 1h), throw_after(5ms))));
  CHECK(error == "thrown late");
  CHECK(tracked::live == 0);
  CHECK(time_now() - start < 1s);
}

// ---- any

task<> any_takes_the_first(system&) {
  const auto won = co_await any(value_after(1, 20ms), value_after(2, 10ms), value_after(3, 30ms));
  CHECK(won.index == 1);
  CHECK(won.value == 2);
  CHECK(tracked::live == 0);
  const auto at_once = co_await any(value_after(1, 1h), value_at_once(4), value_at_once(5));
  CHECK(at_once.index == 1);
  CHECK(at_once.value == 4);
}

task<> any_throws_the_first_error(system&) {
  const auto error = co_await error_of(any(value_after(1, 20ms), throw_after(10ms)));
  CHECK(error == "thrown late");
  const auto won = co_await any(value_after(1, 5ms), throw_after(10ms));
  CHECK(won.value == 1);
  CHECK(tracked::live == 0);
}

task<> any_of_none(system&) {
  std::vector<task<int>> none;
  const auto error = co_await error_of(any(std::move(none)));
  CHECK(error == "any: expected at least one task, got none");
}

// ---- with_timeout

task<> timeout_in_time(system&) {
  const int n = co_await with_timeout(value_after(7, 5ms), 10ms);
  CHECK(n == 7);
  const int at_once = co_await with_timeout(value_at_once(8), 0ms);
  CHECK(at_once == 8);
  const auto error = co_await error_of(with_timeout(throw_after(5ms), 10ms));
  CHECK(error == "thrown late");
}

task<> timeout_too_late(system&) {
  const auto error = co_await error_of(with_timeout(value_after(7, 1h), 10ms));
  CHECK(error == "deadline_exceeded: with_timeout: not finished after 10 ms");
  CHECK(tracked::live == 0);
}

// ---- with_group

task<int> sum_beside(group& g, int& sum) {
  for (int i = 1; i <= 40; ++i) g.start(rest(duration(1ms) * i));
  CHECK(g.running() == 40);
  co_await g.join();
  CHECK(g.running() == 0);
  CHECK(tracked::live == 0);
  sum = 40;
  co_return sum + 1;
}

task<> group_joins(system&) {
  int sum = 0;
  const int more = co_await with_group([&](group& g) { return sum_beside(g, sum); });
  CHECK(sum == 40);
  CHECK(more == 41);
}

task<> leave_early(group& g) {
  g.start(rest(1h));
  co_await sleep_for(5ms);
  CHECK(tracked::live == 1);
}

task<> group_cancels_what_is_left(system&) {
  co_await with_group(leave_early);
  CHECK(tracked::live == 0);
}

task<> start_a_failing_one(group& g) {
  tracked here;
  g.start(rest(1h));
  g.start(fail_after(5ms));
  co_await sleep_for(1h);
}

task<> group_fails_with_a_member(system&) {
  const auto start = time_now();
  const auto error = co_await error_of(with_group(start_a_failing_one));
  CHECK(error == "thrown late");
  CHECK(tracked::live == 0);
  CHECK(time_now() - start < 1s);
}

task<> join_a_failing_one(group& g) {
  g.start(fail_after(5ms));
  co_await g.join();
  FAIL("join returned although a member failed");
}

task<> group_fails_while_joining(system&) {
  const auto error = co_await error_of(with_group(join_a_failing_one));
  CHECK(error == "thrown late");
}

task<> body_that_throws(group& g) {
  g.start(rest(1h));
  co_await sleep_for(1ms);
  throw std::runtime_error("the body threw");
}

task<> group_body_throws(system&) {
  const auto error = co_await error_of(with_group(body_that_throws));
  CHECK(error == "the body threw");
  CHECK(tracked::live == 0);
}

task<> start_in_waves(group& g) {
  for (int wave = 0; wave < 50; ++wave) {
    for (int i = 0; i < 10; ++i) g.start(rest(1ms));
    co_await g.join();
  }
}

task<> group_in_waves(system&) {
  co_await with_group(start_in_waves);
  CHECK(tracked::live == 0);
}

// ---- cancelling from outside

task<> nested_work(system&) {
  tracked here;
  co_await all(list_of(rest(1h), rest(1h)));
}

task<> cancels_what_is_nested(system& sys) {
  const auto error = co_await error_of(with_timeout(nested_work(sys), 5ms));
  CHECK(starts_with(error, "deadline_exceeded"));
  CHECK(tracked::live == 0);
}

task<> sleep_for_ever(system&) {
  tracked here;
  co_await sleep_for(duration::max());
}

}  // namespace

TEST_CASE("all: gives every value, in the order of the tasks") {
  testing::play(all_of_several_types);
}
TEST_CASE("all: the tasks run at the same time") { testing::play(all_at_the_same_time); }
TEST_CASE("all: an error cancels the others and is thrown") { testing::play(all_cancels_on_error); }
TEST_CASE("any: the first to end wins and the others are cancelled") {
  testing::play(any_takes_the_first);
}
TEST_CASE("any: it throws if the first to end threw, and not for a later one") {
  testing::play(any_throws_the_first_error);
}
TEST_CASE("any: no task at all is refused") { testing::play(any_of_none); }
TEST_CASE("with_timeout: work that ends in time gives its value or its error") {
  testing::play(timeout_in_time);
}
TEST_CASE("with_timeout: work that takes too long is cancelled") {
  testing::play(timeout_too_late);
}
TEST_CASE("with_group: join inside the body awaits what was started") {
  testing::play(group_joins);
}
TEST_CASE("with_group: leaving it cancels what was not joined") {
  testing::play(group_cancels_what_is_left);
}
TEST_CASE("with_group: an error of a started task cancels the body and all others") {
  testing::play(group_fails_with_a_member);
}
TEST_CASE("with_group: an error of a started task ends a body that joins") {
  testing::play(group_fails_while_joining);
}
TEST_CASE("with_group: an error of the body cancels what it started") {
  testing::play(group_body_throws);
}
TEST_CASE("with_group: many waves of tasks can be joined one after the other") {
  testing::play(group_in_waves);
}
TEST_CASE("with_timeout: everything inside the cancelled task is destroyed") {
  testing::play(cancels_what_is_nested);
}
TEST_CASE("system: a program that sleeps for ever is reported as deadlocked and destroyed") {
  using testing::tracked;
  CHECK_THROWS_WITH(testing::play(sleep_for_ever), testing::has_text("deadlock"));
  CHECK(tracked::live == 0);
}

}  // namespace troupe
