// The same promises on real threads. Nothing here depends on time, and nothing is asserted inside
// an actor: Catch2's assertions are for one thread.

#include <thread>

#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

struct counter {
  int add(int n) {
    tracked here;
    return total += n;
  }
  task<int> ask(service<counter> other) {
    const int n = co_await other.route<&counter::add>(1);
    co_return n;
  }
  batch<int> twice(batch<int> items) {
    batch<int> results;
    for (const int n : items) {
      if (n == 13) throw fatal("thirteen");
      results.push_back(2 * n);
    }
    return results;
  }
  std::thread::id where() { return std::this_thread::get_id(); }
  int total = 0;
};

task<int> add_many(service<counter> to, int n) {
  int last = 0;
  for (int i = 0; i < n; ++i) last = co_await to.route<&counter::add>(1);
  co_return last;
}

task<int> adds_up(system& sys) {
  auto counters = co_await sys.serve<counter>({.name = "counters", .replicas = 8});
  std::vector<task<int>> callers;
  for (int i = 0; i < 16; ++i) callers.push_back(add_many(counters, 500));
  co_await all(std::move(callers));
  const auto totals = co_await counters.fanout<&counter::add>(0);
  int sum = 0;
  for (const int t : totals) sum += t;
  co_return sum;
}

// Every call is from one replica to another, so callers live on all threads; queues are short.
task<int> ask_many(service<counter> from, service<counter> to, int n) {
  int answered = 0;
  for (int i = 0; i < n; ++i) {
    const auto o = co_await from.try_route<&counter::ask>(to);
    answered += o.ok();
  }
  co_return answered;
}

task<int> many_threads_wait_for_room(system& sys) {
  auto to = co_await sys.serve<counter>({.name = "to", .replicas = 2, .max_queued = 1});
  auto from = co_await sys.serve<counter>({.name = "from", .replicas = 8, .max_queued = 4});
  std::vector<task<int>> callers;
  for (int i = 0; i < 48; ++i) callers.push_back(ask_many(from, to, 100));
  const auto answered = co_await all(std::move(callers));
  int sum = 0;
  for (const int n : answered) sum += n;
  co_return sum;
}

struct ends {
  int answered = 0, lost = 0, other = 0;
};

task<ends> twice_many(service<counter> to, int from, int n) {
  ends e;
  for (int i = from; i < from + n; ++i) {
    const auto o = co_await to.try_route<&counter::twice>(i % 50);
    if (o.ok()) {
      e.answered += o.value() == 2 * (i % 50);
    } else if (kind_of(o) == error_kind::replica_lost) {
      ++e.lost;
    } else {
      ++e.other;
    }
  }
  co_return e;
}

task<ends> dies_often(system& sys) {
  auto counters = co_await sys.serve<counter>({.name = "counters",
                                               .replicas = 4,
                                               .max_queued = 8,
                                               .max_restarts = 100000,
                                               .backoff = 100us,
                                               .backoff_limit = 100us});
  std::vector<task<ends>> callers;
  for (int i = 0; i < 24; ++i) callers.push_back(twice_many(counters, i, 150));
  const auto parts = co_await all(std::move(callers));
  ends sum;
  for (const auto& e : parts) {
    sum.answered += e.answered;
    sum.lost += e.lost;
    sum.other += e.other;
  }
  co_return sum;
}

task<int> short_deadlines(system& sys) {
  auto to = co_await sys.serve<counter>({.name = "to", .max_queued = 2});
  auto from =
      co_await sys.serve<counter>({.name = "from", .replicas = 4, .deadline = duration(10ms)});
  std::vector<task<int>> callers;
  for (int i = 0; i < 32; ++i) callers.push_back(ask_many(from, to, 50));
  co_await all(std::move(callers));
  const int total = co_await to.route<&counter::add>(0);
  co_return total;
}

task<int> own_threads(system& sys) {
  auto counters = co_await sys.serve<counter>(
      {.name = "counters", .replicas = 3, .placement = placement::thread});
  const auto first = co_await counters.fanout<&counter::where>();
  const auto again = co_await counters.fanout<&counter::where>();
  if (first != again) co_return -1;
  int different = first[0] != first[1];
  different += first[1] != first[2];
  different += first[2] != first[0];
  co_await counters.try_route<&counter::twice>(13);
  const auto after = co_await counters.fanout_settled<&counter::add>(1);
  co_return different + static_cast<int>(after.size() > 0);
}

task<> until_cancelled(system&, std::atomic<bool>& begun) {
  tracked here;
  begun = true;
  begun.notify_one();
  co_await sleep_for(duration::max());
}

}  // namespace

TEST_CASE("pool: nothing is lost or counted twice on four threads") {
  testing::log_off();
  {
    system sys({.threads = 4});
    CHECK(sys.run(adds_up(sys)) == 16 * 500);
  }
  CHECK(testing::tracked::live == 0);
}

TEST_CASE("pool: callers on many threads that wait for room are all served") {
  testing::log_off();
  system sys({.threads = 4});
  CHECK(sys.run(many_threads_wait_for_room(sys)) == 48 * 100);
}

TEST_CASE("pool: where replicas die often, each caller gets one answer or replica_lost") {
  testing::log_off();
  system sys({.threads = 4});
  const auto sum = sys.run(dies_often(sys));
  CHECK(sum.other == 0);
  CHECK(sum.lost >= 72);  // Each thirteen is lost: 24 callers, three or more times.
  CHECK(sum.answered + sum.lost == 24 * 150);
}

TEST_CASE("pool: deadlines that pass while others are answered harm nobody") {
  testing::log_off();
  system sys({.threads = 4});
  CHECK(sys.run(short_deadlines(sys)) <= 32 * 50);
}

TEST_CASE("pool: with placement::thread each replica has a thread of its own") {
  testing::log_off();
  system sys({.threads = 2});
  CHECK(sys.run(own_threads(sys)) == 4);
}

TEST_CASE("pool: cancel ends what runs, from another thread") {
  testing::log_off();
  system sys({.threads = 2});
  std::atomic<bool> begun = false;
  std::thread canceller([&] {
    begun.wait(false);
    sys.cancel();
  });
  CHECK_THROWS_WITH(sys.run(until_cancelled(sys, begun)), testing::has_text("cancelled"));
  canceller.join();
  CHECK(testing::tracked::live == 0);
}

TEST_CASE("pool: fifty systems can be made and ended in turn") {
  testing::log_off();
  for (int i = 0; i < 50; ++i) {
    system sys({.threads = 2});
    CHECK(sys.run(adds_up(sys)) == 16 * 500);
  }
}

}  // namespace troupe
