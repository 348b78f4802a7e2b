#include <memory>

#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

task<int> value_of(int n) { co_return n; }
task<int> throw_instead() {
  throw std::runtime_error("thrown");
  co_return 0;
}
task<> count_up(int& n) {
  ++n;
  co_return;
}
time_point time_now() { return detail::strand::current().now(); }

task<> returns_values(system&) {
  const int n = co_await value_of(3);
  CHECK(n == 3);
  const auto error = co_await error_of(throw_instead());
  CHECK(error == "thrown");
}

task<std::unique_ptr<int>> owned(std::unique_ptr<int> n) { co_return std::move(n); }

task<> moves_values(system&) {
  const auto n = co_await owned(std::make_unique<int>(5));
  CHECK(*n == 5);
}

task<> starts_when_awaited(system&) {
  int n = 0;
  auto counting = count_up(n);
  CHECK(n == 0);
  co_await counting;
  CHECK(n == 1);
}

task<> finishes_a_million(system&) {
  int n = 0;
  for (int i = 0; i < 1'000'000; ++i) co_await count_up(n);
  CHECK(n == 1'000'000);
}

task<int> depth(int n) {
  if (n == 0) co_return 0;
  const int below = co_await depth(n - 1);
  co_return below + 1;
}

task<> nests_deeply(system&) {
  const int n = co_await depth(100'000);
  CHECK(n == 100'000);
}

task<> sleeps(system&) {
  const auto start = time_now();
  co_await sleep_for(50ms);
  CHECK(time_now() - start >= 50ms);
  CHECK(time_now() - start < 60ms);
  const auto later = time_now();
  co_await sleep_for(0ms);
  CHECK(time_now() == later);
}

task<> note_after(duration pause, int n, std::vector<int>& order) {
  co_await sleep_for(pause);
  order.push_back(n);
}

task<> wakes_in_order(system&) {
  std::vector<int> order;
  co_await all(note_after(30ms, 3, order), note_after(10ms, 1, order), note_after(20ms, 2, order));
  CHECK(order == std::vector<int>{1, 2, 3});
}

}  // namespace

TEST_CASE("task: awaiting gives its value, or throws its error") { testing::play(returns_values); }
TEST_CASE("task: a value that can only be moved arrives") { testing::play(moves_values); }
TEST_CASE("task: it starts when it is awaited, not before") { testing::play(starts_when_awaited); }
TEST_CASE("task: a million of them that never wait use no stack") {
  testing::play(finishes_a_million);
}
TEST_CASE("task: a hundred thousand inside each other use no stack") {
  testing::play(nests_deeply);
}
TEST_CASE("sleep_for: it takes the time it says, and none for zero") { testing::play(sleeps); }
TEST_CASE("sleep_for: the shortest sleep ends first") { testing::play(wakes_in_order); }

}  // namespace troupe
