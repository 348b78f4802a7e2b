#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Where calls wait until all of them are at work.
struct meeting {
  explicit meeting(int expected) : missing(expected) {}
  std::atomic<int> missing;
};

struct walker {
  using services = std::vector<service<walker>>;

  /// Calls the first of `way`, which calls the next, and so on; the number of calls.
  task<int> walk(services way) {
    if (way.empty()) co_return 0;
    const auto next = way.front();
    way.erase(way.begin());
    const int calls = co_await next.route<&walker::walk>(way);
    co_return calls + 1;
  }
  /// Calls `next` once all are here.
  task<int> meet_and_walk(std::shared_ptr<meeting> with, service<walker> next) {
    --with->missing;
    while (with->missing > 0) co_await sleep_for(1ms);
    const int calls = co_await next.route<&walker::walk>(services());
    co_return calls + 1;
  }
  /// Waits for the end of a walk for so long, then goes on.
  task<int> walk_for(services way, duration patience) {
    const auto end = co_await error_of(with_timeout(walk(way), patience));
    co_return starts_with(end, "deadline_exceeded") ? 1 : 0;
  }
  /// Calls an endpoint of `back` that is no coroutine, by way of `by`.
  task<int> ask_back(service<walker> by, service<walker> back) {
    const int n = co_await by.route<&walker::ask>(back);
    co_return n;
  }
  task<int> ask(service<walker> of) {
    const int n = co_await of.route<&walker::one>();
    co_return n;
  }
  int one() { return 1; }
  batch<int> gather(batch<int> numbers) { return numbers; }
  task<int> nap(duration pause) {
    co_await sleep_for(pause);
    co_return 1;
  }
  task<int> walk_to_nap(service<walker> where, duration pause) {
    const int calls = co_await where.route<&walker::nap>(pause);
    co_return calls + 1;
  }
};

/// Services of one replica, "a", "b" and so on.
task<walker::services> open(system& sys, std::size_t count, std::size_t max_ongoing,
                            std::size_t max_queued) {
  walker::services all;
  for (std::size_t i = 0; i < count; ++i) {
    const auto name = std::string(1, static_cast<char>('a' + i));
    auto one = co_await sys.serve<walker>(
        {.name = name, .max_queued = max_queued, .max_ongoing = max_ongoing});
    all.push_back(one);
  }
  co_return all;
}

task<> walk(service<walker> first, walker::services way, int expected) {
  const int calls = co_await first.route<&walker::walk>(way);
  if (calls != expected) throw std::runtime_error("walked " + std::to_string(calls));
}

/// How a walk ends, within ten seconds.
task<std::string> end_of_walk(service<walker> first, walker::services way) {
  const auto length = static_cast<int>(way.size());
  auto end = co_await error_of(with_timeout(walk(first, way, length), 10s));
  co_return end;
}

double cycles_of(system& sys, const std::string& service) {
  return metric(sys, "troupe_service_cycles_total", service);
}

struct walked {
  std::string stuck;               ///< How the walk in a circle ended.
  std::vector<std::string> after;  ///< And one from each service to the next, later.
  std::vector<double> cycles;      ///< As each service counts them.
};

/// Walks through all services and back to the first, each of which works on one call at a time.
task<walked> walk_around(system& sys, std::size_t count, std::size_t max_queued) {
  walked result;
  const auto all = co_await open(sys, count, 1, max_queued);
  auto way = walker::services(all.begin() + 1, all.end());
  way.push_back(all.front());
  result.stuck = co_await end_of_walk(all.front(), way);
  for (std::size_t i = 0; i < count; ++i) {
    walker::services on;
    if (count > 1) on.push_back(all[(i + 1) % count]);
    auto end = co_await end_of_walk(all[i], on);
    result.after.push_back(std::move(end));
    result.cycles.push_back(cycles_of(sys, all[i].name()));
  }
  co_return result;
}

task<std::string> stop_after(system& sys, service<walker> which, duration pause) {
  co_await sleep_for(pause);
  sys.stop(which);
  co_return "stopped";
}

/// How a call ends that waits in a cycle of "a" and "b", of which "b" is stopped after a while, and
/// how one ends that waits in a cycle of "a" alone, later.
task<std::pair<std::string, std::string>> stopped_in_a_cycle(system& sys, duration pause) {
  const auto all_of_them = co_await open(sys, 2, 1, 8);
  const walker::services way{all_of_them[1], all_of_them[0]};
  std::vector<task<std::string>> both;
  both.push_back(end_of_walk(all_of_them[0], way));
  both.push_back(stop_after(sys, all_of_them[1], pause));
  const auto ends = co_await all(std::move(both));
  co_await sleep_for(10s);
  const walker::services back{all_of_them[0]};
  const auto later = co_await end_of_walk(all_of_them[0], back);
  co_return std::pair(ends[0], later);
}

void check(const walked& result, std::size_t count, const std::string& members) {
  CHECK_THAT(
      result.stuck,
      has_text("overloaded: a.walker::walk: services wait for each other in a cycle: " + members));
  CHECK(result.after == std::vector<std::string>(count, "none"));
  for (const double cycles : result.cycles) CHECK(cycles >= 1);
}

const std::vector<std::string> circles = {"a -> a", "a -> b -> a", "a -> b -> c -> a"};

/// On two threads, with looks in quick succession.
system_options threads() { return {.threads = 2, .cycle_check = 5ms}; }

// ---- calls of many

task<std::string> end_of_meeting(service<walker> at, std::shared_ptr<meeting> with,
                                 service<walker> next) {
  const auto result = co_await at.try_route<&walker::meet_and_walk>(with, next);
  co_return result.ok() ? "none" : describe(result.error());
}

task<std::vector<std::string>> two_crowds(system& sys, std::size_t max_queued) {
  const auto both = co_await open(sys, 2, 4, max_queued);
  const auto with = std::make_shared<meeting>(8);
  std::vector<task<std::string>> calls;
  for (int i = 0; i < 4; ++i) {
    calls.push_back(end_of_meeting(both[0], with, both[1]));
    calls.push_back(end_of_meeting(both[1], with, both[0]));
  }
  auto ends = co_await with_timeout(all(std::move(calls)), 10s);
  co_return ends;
}

// ---- no cycle

task<> eight_wait_for_one(system& sys) {
  auto slow = co_await sys.serve<walker>({.name = "slow", .max_queued = 1, .max_ongoing = 1});
  auto busy = co_await sys.serve<walker>({.name = "busy", .max_queued = 8, .max_ongoing = 8});
  const auto ask = [&] { return busy.try_route<&walker::walk_to_nap>(slow, duration(30s)); };
  std::vector<task<outcome<int>>> asked;
  for (int i = 0; i < 8; ++i) asked.push_back(ask());
  const auto answers = co_await all(std::move(asked));
  for (const auto& answer : answers) CHECK(answer.value() == 2);
  CHECK(cycles_of(sys, "slow") == 0);
  CHECK(cycles_of(sys, "busy") == 0);
}

/// Service "a" has one call that naps and one that awaits b's, which awaits a's: that one waits for
/// the end of the nap.
task<> one_replica_goes_on(system& sys, std::size_t replicas, std::size_t max_ongoing) {
  const serve_options options{
      .name = "a", .replicas = replicas, .max_queued = max_ongoing, .max_ongoing = max_ongoing};
  auto a = co_await sys.serve<walker>(options);
  auto b = co_await sys.serve<walker>({.name = "b", .max_queued = 1, .max_ongoing = 1});
  std::vector<task<outcome<int>>> calls;
  calls.push_back(a.try_route<&walker::nap>(duration(60s)));
  calls.push_back(a.try_route<&walker::walk>(walker::services{b, a}));
  const auto ends = co_await all(std::move(calls));
  CHECK(ends[0].value() == 1);
  CHECK(ends[1].value() == 2);
  CHECK(detail::strand::current().now() - time_point() >= 60s);
  CHECK(cycles_of(sys, "a") == 0);
}

/// The call from "b" has no room at "a" while that gathers a batch.
task<> a_batch_gives_room(system& sys) {
  auto a = co_await sys.serve<walker>(
      {.name = "a", .max_queued = 2, .max_ongoing = 1, .max_delay = 60s});
  auto b = co_await sys.serve<walker>({.name = "b", .max_queued = 1, .max_ongoing = 1});
  std::vector<task<outcome<int>>> calls;
  calls.push_back(a.try_route<&walker::gather>(1));
  calls.push_back(a.try_route<&walker::ask_back>(b, a));
  const auto ends = co_await all(std::move(calls));
  for (const auto& end : ends) CHECK(end.value() == 1);
  CHECK(detail::strand::current().now() - time_point() >= 60s);
  CHECK(cycles_of(sys, "a") == 0);
}

/// A look a second; the first at which the cycle can be seen is the second one.
task<> ends_between_two_looks(system& sys) {
  const auto all = co_await open(sys, 2, 1, 1);
  const int gave_up =
      co_await all[0].route<&walker::walk_for>(walker::services{all[1], all[0]}, duration(2500ms));
  CHECK(gave_up == 1);
  CHECK(cycles_of(sys, "a") == 0);
}

task<> sleeps_for_ever_before_another(system& sys) {
  const auto one = co_await open(sys, 1, 1, 10);
  std::vector<task<outcome<int>>> calls;
  for (int i = 0; i < 2; ++i) calls.push_back(one[0].try_route<&walker::nap>(duration::max()));
  co_await all(std::move(calls));
}

}  // namespace

TEST_CASE("cycle: services that wait for each other are told with its members, and serve again") {
  log_off();
  for (const std::size_t count : {1, 2, 3}) {
    for (const std::size_t max_queued : {1, 2, 1024}) {
      INFO(count << " services, max_queued " << max_queued);
      system sys(threads());
      check(sys.run(walk_around(sys, count, max_queued)), count, circles[count - 1]);
    }
  }
}

TEST_CASE("cycle: in virtual time it is reported alike") {
  log_off();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto count = seed % 3 + 1;
    system sys({.deterministic = true, .seed = seed});
    const auto result = sys.run(walk_around(sys, count, seed % 2 + 1));
    check(result, count, circles[count - 1]);
    CHECK(result.cycles == std::vector<double>(count, 1));
  }
}

TEST_CASE("cycle: of calls that fill two services some end as overloaded, and the rest go on") {
  log_off();
  for (const std::size_t max_queued : {4, 6, 1024}) {
    system sys(threads());
    const auto ends = sys.run(two_crowds(sys, max_queued));
    REQUIRE(ends.size() == 8);
    int overloaded = 0;
    for (const auto& end : ends) {
      if (end == "none") continue;
      ++overloaded;
      CHECK_THAT(end, has_text("overloaded") && has_text("a cycle: a -> b -> a"));
    }
    CHECK(overloaded > 0);
  }
}

TEST_CASE("cycle: a slow service for which all others wait is none") { play(eight_wait_for_one); }

TEST_CASE("cycle: a service of which one replica or one call goes on is in none") {
  log_off();
  system two_replicas({.deterministic = true});
  two_replicas.run(one_replica_goes_on(two_replicas, 2, 1));
  system two_calls({.deterministic = true});
  two_calls.run(one_replica_goes_on(two_calls, 1, 2));
}

TEST_CASE("cycle: who waits for the room that a batch will give is in none") {
  play(a_batch_gives_room);
}

TEST_CASE("cycle: one that ends by itself before the second look at it is not reported") {
  play(ends_between_two_looks);
}

TEST_CASE("cycle: where calls wait for something else the look for cycles ends") {
  CHECK_THROWS_WITH(play(sleeps_for_ever_before_another), has_text("deadlock"));
}

TEST_CASE("cycle: a service that is stopped while it is in one is no part of it") {
  // The third look, 3 s after the cycle has closed, would report it.
  for (const auto pause : {500ms, 1500ms, 2500ms, 2999ms, 3500ms}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      INFO("stopped after " << detail::to_text(pause) << ", seed " << seed);
      log_off();
      system sys({.deterministic = true, .seed = seed});
      const auto [end, later] = sys.run(stopped_in_a_cycle(sys, pause));
      CHECK_THAT(end, has_text(pause < 3s ? "service_down" : "a cycle: "));
      CHECK_THAT(later, has_text("a cycle: a -> a"));
    }
  }
}

TEST_CASE("cycle: a negative time between looks is refused") {
  CHECK_THROWS_WITH(system({.cycle_check = -1s}),
                    has_text("system: cycle_check: expected a time >= 0, got -"));
}

}  // namespace troupe
