// Values that every replica of a service must have.

#include <thread>

#include "runtime/service/options/fault_plan.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// A replica with two values. Its own are -1 and "".
struct keeper {
  explicit keeper(const replica_info& info) : info(info) {}
  void set(int n) {
    if (n < 0) throw std::invalid_argument("expected a number >= 0");
    if (n < number) throw std::logic_error("an older number came after a newer one");
    number = n;
  }
  void name(std::string text) { named = std::move(text); }
  int get() const { return number; }
  std::string both() const { return named + std::to_string(number); }
  std::size_t generation() const { return info.generation; }
  void die() { throw fatal("as asked"); }
  const replica_info info;
  int number = -1;
  std::string named;
};

serve_options keepers(std::size_t replicas) {
  return {.name = "keepers", .replicas = replicas, .max_restarts = 100000};
}

task<> each_has_it(system& sys) {
  auto three = co_await sys.serve<keeper>(keepers(3));
  co_await three.publish<&keeper::set>(7);
  const auto all = co_await three.fanout<&keeper::get>();
  CHECK(all == std::vector{7, 7, 7});
}

task<> later_ones_have_it(system& sys) {
  auto some = co_await sys.serve<keeper>(keepers(2));
  co_await some.publish<&keeper::set>(1);
  co_await some.publish<&keeper::name>("a");
  co_await some.publish<&keeper::set>(2);
  co_await sys.scale(some, 4);
  auto all = co_await some.fanout<&keeper::both>();
  CHECK(all == std::vector<std::string>{"a2", "a2", "a2", "a2"});
  for (int i = 0; i < 4; ++i) {
    const auto lost = co_await some.try_route<&keeper::die>();
    CHECK(!lost.ok());
  }
  co_await sys.scale(some, 4);  // Returns when all serve again.
  all = co_await some.fanout<&keeper::both>();
  CHECK(all == std::vector<std::string>{"a2", "a2", "a2", "a2"});
  std::size_t restarts = 0;
  for (const auto generation : co_await some.fanout<&keeper::generation>()) restarts += generation;
  CHECK(restarts == 4);
}

/// Reads a value again and again, and never one that is older than the one acknowledged before.
task<> read_on(service<keeper> from, const int& acknowledged, const bool& over, int& reads) {
  while (!over) {
    const int least = acknowledged;
    const auto got = co_await from.try_route<&keeper::get>();
    if (got.ok()) {
      CHECK(got.value() >= least);
      ++reads;
    }
    co_await sleep_for(1ms);
  }
}

task<> kill_on(service<keeper> from, const bool& over) {
  while (!over) {
    co_await sleep_for(7ms);
    co_await from.try_route<&keeper::die>();
  }
}

task<> publish_on(service<keeper> to, int& acknowledged, bool& over) {
  for (int n = 0; n < 200; ++n) {
    co_await to.publish<&keeper::set>(n);
    acknowledged = n;
    co_await sleep_for(3ms);
  }
  over = true;
}

/// Replicas die at any moment while values are published.
task<> survives_deaths(system& sys) {
  auto options = keepers(3);
  options.backoff = options.backoff_limit = 1ms;
  auto three = co_await sys.serve<keeper>(options);
  int acknowledged = -1, reads = 0;
  bool over = false;
  std::vector<task<>> together;
  together.push_back(publish_on(three, acknowledged, over));
  together.push_back(kill_on(three, over));
  for (int i = 0; i < 3; ++i) together.push_back(read_on(three, acknowledged, over, reads));
  co_await all(std::move(together));
  CHECK(reads > 100);
}

task<> refuses_what_throws(system& sys) {
  auto two = co_await sys.serve<keeper>(keepers(2));
  co_await two.publish<&keeper::set>(5);
  const auto error = co_await error_of(two.publish<&keeper::set>(-5));
  CHECK_THAT(error, Catch::Contains("expected a number >= 0"));
  co_await two.try_route<&keeper::die>();
  co_await sys.scale(two, 3);
  const auto all = co_await two.fanout<&keeper::get>();
  CHECK(all == std::vector{5, 5, 5});  // The last value that was taken.
}

/// Refuses 9 in its second replica, and 8 in each.
struct choosy {
  explicit choosy(const replica_info& info) : info(info) {}
  task<> set(int n) {
    co_await sleep_for(2ms * (1 + info.index));
    if (n == 8 || (n == 9 && info.index == 1))
      throw std::invalid_argument("not " + std::to_string(n));
    number = n;
  }
  int get() const { return number; }
  void die() { throw fatal("as asked"); }
  const replica_info info;
  int number = -1;
};

task<std::string> publish_settled(service<choosy> to, int n) {
  co_return co_await error_of(to.publish<&choosy::set>(n));
}

/// Publishes the numbers at once and returns who was refused.
task<std::vector<bool>> refused_of(service<choosy> to, std::vector<int> numbers) {
  std::vector<task<std::string>> together;
  for (const int n : numbers) together.push_back(publish_settled(to, n));
  std::vector<bool> refused;
  for (const auto& error : co_await all(std::move(together))) refused.push_back(error != "none");
  co_return refused;
}

task<> goes_back_to_what_was_accepted(system& sys, std::vector<int> numbers, int accepted) {
  auto three = co_await sys.serve<choosy>({.name = "choosy", .replicas = 3});
  co_await three.publish<&choosy::set>(1);
  std::vector<bool> expected;
  for (const int n : numbers) expected.push_back(n > 7);
  const auto refused = co_await refused_of(three, numbers);
  CHECK(refused == expected);
  auto all = co_await three.fanout<&choosy::get>();
  CHECK(all == std::vector(3, accepted));
  co_await three.try_route<&choosy::die>();
  co_await sys.scale(three, 4);
  all = co_await three.fanout<&choosy::get>();
  CHECK(all == std::vector(4, accepted));
}

task<> ends_with_its_service(system& sys) {
  auto two = co_await sys.serve<keeper>(keepers(2));
  sys.stop(two);
  const auto error = co_await error_of(two.publish<&keeper::set>(1));
  CHECK_THAT(error, Catch::Contains("service_down: keepers"));
}

/// A role of one process or thread each.
task<> in_places(system& sys, placement where) {
  auto options = keepers(2);
  options.placement = where;
  auto two = co_await sys.serve<keeper>(options);
  co_await two.publish<&keeper::set>(3);
  co_await two.try_route<&keeper::die>();
  co_await sys.scale(two, 3);
  const auto all = co_await two.fanout<&keeper::get>();
  CHECK(all == std::vector{3, 3, 3});
}

struct slow_keeper {
  void set(int n, duration pause) {
    std::this_thread::sleep_for(pause);
    number = n;
  }
  int get() const { return number; }
  int number = -1;
};

task<> is_late(system& sys) {
  auto one = co_await sys.serve<slow_keeper>({.name = "slow"});
  const auto error =
      co_await error_of(one.with({.deadline = 10ms}).publish<&slow_keeper::set>(1, 100ms));
  CHECK_THAT(error, Catch::Contains("deadline_exceeded"));
  const int got = co_await one.route<&slow_keeper::get>();
  CHECK(got == 1);  // It came all the same.
}

}  // namespace

TEST_CASE("publish: each replica has the value") { play(each_has_it); }

TEST_CASE("publish: replicas that are added or restarted have it before they serve") {
  play(later_ones_have_it);
}

TEST_CASE("publish: no replica acts on a value older than the one acknowledged, whoever dies") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) play(survives_deaths, seed);
}

TEST_CASE("publish: no replica acts on an older value on threads, either") {
  log_off();
  system sys({.threads = 2});
  sys.run(survives_deaths(sys));
}

TEST_CASE("publish: a value that an endpoint refuses is an error, and is not kept") {
  play(refuses_what_throws);
}

TEST_CASE("publish: after a refusal each replica has what was accepted last") {
  const auto numbers =
      GENERATE(std::vector{9}, std::vector{8}, std::vector{2, 9}, std::vector{2, 8},
               std::vector{9, 2}, std::vector{2, 3, 8, 9}, std::vector{8, 2, 9});
  int accepted = 1;
  for (const int n : numbers) accepted = n > 7 ? accepted : n;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    system sys({.deterministic = true, .seed = seed});
    sys.run(goes_back_to_what_was_accepted(sys, numbers, accepted));
  }
}

TEST_CASE("publish: it ends with its service") { play(ends_with_its_service); }

TEST_CASE("publish: it holds in each placement") {
  log_off();
  for (const auto where : {placement::thread, placement::shared}) {
    system sys({.threads = 2});
    sys.run(in_places(sys, where));
  }
}

TEST_CASE("publish: in virtual time it holds in simulated processes") {
  log_off();
  system sys({.deterministic = true, .seed = 5});
  sys.run(in_places(sys, placement::process));
}

TEST_CASE("publish: a replica that is late gets the value after the caller's deadline") {
  log_off();
  system sys({.threads = 2});
  sys.run(is_late(sys));
}

}  // namespace troupe
