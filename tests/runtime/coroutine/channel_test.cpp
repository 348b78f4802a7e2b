#include "runtime/coroutine/channel.hpp"

#include <algorithm>

#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

task<> send_all(channel<int>& to, int n, int& sent) {
  for (int i = 0; i < n; ++i) {
    co_await to.send(i);
    ++sent;
  }
  to.close();
}

task<> receive_all(channel<int>& from, std::vector<int>& got) {
  while (true) {
    const auto item = co_await from.receive();
    if (!item) break;
    got.push_back(*item);
  }
}

task<> receive_one(channel<int>& from, std::vector<int>& got) {
  tracked here;
  const auto item = co_await from.receive();
  if (item) got.push_back(*item);
}

task<> carries_in_order(system&) {
  channel<int> numbers(4);
  int sent = 0;
  std::vector<int> got;
  co_await all(send_all(numbers, 100, sent), receive_all(numbers, got));
  REQUIRE(got.size() == 100);
  CHECK(std::is_sorted(got.begin(), got.end()));
  const auto after = co_await numbers.receive();
  CHECK(!after);
}

task<> holds_no_more_than_its_capacity(system&) {
  channel<int> numbers(3);
  int sent = 0;
  const auto error = co_await error_of(with_timeout(send_all(numbers, 10, sent), 1s));
  CHECK(starts_with(error, "deadline_exceeded"));
  CHECK(sent == 3);
  CHECK(numbers.size() == 3);
}

task<> close_soon(channel<int>& c) {
  co_await sleep_for(1ms);
  c.close();
}

task<> closes(system&) {
  channel<int> numbers(1);
  std::vector<int> got;
  co_await all(receive_one(numbers, got), receive_one(numbers, got), close_soon(numbers));
  CHECK(got.empty());
  const auto refused = co_await error_of(numbers.send(1));
  CHECK(refused == "channel: send after close");
}

task<> closes_on_a_sender(system&) {
  channel<int> numbers(1);
  co_await numbers.send(1);
  const auto both = co_await all(error_of(numbers.send(2)), close_soon(numbers));
  CHECK(std::get<0>(both) == "channel: send after close");
  const auto last = co_await numbers.receive();
  CHECK(last == 1);
}

task<> send_soon(channel<int>& to, int n) {
  co_await sleep_for(10ms);
  co_await to.send(n);
}

task<> passes_over_the_cancelled(group& g, channel<int>& numbers, std::vector<int>& got) {
  const auto gone = co_await error_of(with_timeout(receive_one(numbers, got), 5ms));
  CHECK(starts_with(gone, "deadline_exceeded"));
  g.start(receive_one(numbers, got));
  co_await send_soon(numbers, 1);
  co_await g.join();
}

task<> a_cancelled_receiver_takes_nothing(system&) {
  channel<int> numbers(1);
  std::vector<int> got;
  co_await with_group([&](group& g) { return passes_over_the_cancelled(g, numbers, got); });
  CHECK(got == std::vector<int>{1});
}

detail::child_task beside(task<> work) { co_await work; }

// A receiver that is woken for an item and cancelled in the same turn, before it runs.
task<> woken_and_cancelled(system&) {
  channel<int> numbers(2);
  std::vector<int> first, second;
  detail::task_group one, other;
  one.start(beside(receive_one(numbers, first)));
  other.start(beside(receive_one(numbers, second)));
  co_await sleep_for(1ms);
  co_await numbers.send(7);
  one.cancel();
  co_await other.join();
  CHECK(first.empty());
  CHECK(second == std::vector<int>{7});
}

}  // namespace

TEST_CASE("channel: items arrive in order and end with the close") {
  testing::play(carries_in_order);
}
TEST_CASE("channel: send waits while it is full") {
  testing::play(holds_no_more_than_its_capacity);
}
TEST_CASE("channel: closing wakes receivers and refuses senders") { testing::play(closes); }
TEST_CASE("channel: closing refuses a sender that waits, and keeps what was sent") {
  testing::play(closes_on_a_sender);
}
TEST_CASE("channel: a cancelled receiver leaves the item to the next one") {
  testing::play(a_cancelled_receiver_takes_nothing);
}
TEST_CASE("channel: a receiver cancelled between its wake-up and its turn passes the item on") {
  testing::play(woken_and_cancelled);
}
TEST_CASE("channel: a capacity of zero is refused") {
  CHECK_THROWS_WITH(channel<int>(0), "channel: expected a capacity > 0, got 0");
}

}  // namespace troupe
