// The ways in which a service layer can break faith with its callers, and the test that shows that
// this one does not. Those not named here are shown elsewhere:
//
//   what must not happen                                  shown by
//   a failing update of all replicas passes for a whole   "fanout: it throws after every replica
//   has one                                                   answered; settled it gives each
//   outcome" one request crashes replica after replica             "supervision: a call that kills
//   two replicas
//                                                         is refused as poison"
//   a restarted replica serves with its initial state     "supervision: a replica catches up before
//   it
//                                                         serves, also after a restart", and
//                                                         "policy: a restarted replica comes back
//                                                         with the newest weights"
//   recovery goes on for ever and starts nothing          "supervision: a constructor that always
//                                                         throws ends as service_down"
//   scaling is promised, and not there                    "scale: new replicas catch up, and then
//   all
//                                                         serve", and "scale: removed replicas
//                                                         finish what they hold, and end without a
//                                                         restart"
//   a misspelt setting is ignored                         "config: an unknown name comes with the
//                                                         nearest known one"
#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Of which a test sees how often it was made, called and restarted.
struct clerk {
  explicit clerk(const replica_info& info) : info(info) {}
  int add(int n) {
    if (n < 0) throw std::invalid_argument("expected a number >= 0, got " + std::to_string(n));
    return total += n;
  }
  task<int> add_slowly(int n) {
    co_await sleep_for(20ms);
    co_return total += n;
  }
  void note(std::shared_ptr<int> runs) {
    ++*runs;
    throw fatal("it can't bear to be asked");
  }
  void die() { throw fatal("asked to"); }
  std::size_t index() { return info.index; }
  std::size_t generation() { return info.generation; }
  int sum() { return total; }
  const replica_info info;
  int total = 0;
};

serve_options clerks(std::size_t replicas) {
  return {.name = "clerks", .replicas = replicas, .router = routing::round_robin()};
}

task<> add_routed(service<clerk> to, int n) { co_await to.route<&clerk::add>(n); }
task<> add_slowly_routed(service<clerk> to) { co_await to.route<&clerk::add_slowly>(1); }
task<> die_routed(service<clerk> to) { co_await to.route<&clerk::die>(); }
task<> die_soon(service<clerk> to) {
  co_await sleep_for(5ms);
  const auto now = to.with({.priority = priority::control});  // No call is before it.
  co_await now.route<&clerk::die>();
}

/// Awaits what it is given, and notes how it ended and after how long.
struct ending {
  std::string error = "unfinished";
  duration after{};
};
template <class T>
task<> note_end(task<T> work, ending& e) {
  const auto start = detail::strand::current().now();
  e.error = co_await error_of(std::move(work));
  e.after = detail::strand::current().now() - start;
}

// ---- errors

task<> exceptions_are_thrown(system& sys) {
  auto one = co_await sys.serve<clerk>(clerks(1));
  co_await one.route<&clerk::add>(5);
  std::string caught = "nothing";
  try {
    const int never = co_await one.route<&clerk::add>(-1);
    caught = "the value " + std::to_string(never);
  } catch (const role_error& e) {
    caught = e.what();
  }
  CHECK(caught == "role_error: clerks.clerk::add threw: expected a number >= 0, got -1");
  const int total = co_await one.route<&clerk::add>(1);
  CHECK(total == 6);  // The same role.
  CHECK(metric(sys, "troupe_replica_restarts_total", "clerks") == 0);
}

task<> wrong_arguments_harm_nobody(system& sys) {
  auto three = co_await sys.serve<clerk>(clerks(3));
  co_await three.fanout<&clerk::add>(10);
  for (int i = 0; i < 30; ++i) {
    const auto error = co_await error_of(add_routed(three, -1));
    CHECK(starts_with(error, "role_error"));
  }
  const auto totals = co_await three.fanout<&clerk::sum>();
  CHECK(totals == std::vector<int>{10, 10, 10});
  CHECK(metric(sys, "troupe_replica_restarts_total", "clerks") == 0);
  CHECK(metric(sys, "troupe_retries_total", "clerks") == 0);
  // None was tried on another replica: as many answers as calls.
  CHECK(metric(sys, "troupe_requests_total", "clerks", R"(outcome="error",route="clerk::add",)") ==
        30);
}

task<> giving_up_harms_nobody(system& sys) {
  auto one = co_await sys.serve<clerk>(clerks(1));
  std::vector<ending> ends(4);
  std::vector<task<>> calls;
  calls.push_back(note_end(add_slowly_routed(one.with({.deadline = 5ms})), ends[0]));
  calls.push_back(note_end(with_timeout(add_slowly_routed(one), 5ms), ends[1]));
  calls.push_back(note_end(any(add_slowly_routed(one), detail::sleep_task(5ms)), ends[2]));
  calls.push_back(note_end(add_slowly_routed(one), ends[3]));
  co_await all(std::move(calls));
  CHECK(starts_with(ends[0].error, "deadline_exceeded"));
  CHECK(starts_with(ends[1].error, "deadline_exceeded"));
  CHECK(ends[2].error == "none");
  CHECK(ends[3].error == "none");
  co_await sleep_for(1s);
  const auto generation = co_await one.route<&clerk::generation>();
  CHECK(generation == 0);
  const int total = co_await one.route<&clerk::sum>();
  CHECK(total == 1);  // What the others had begun was cancelled.
  CHECK(metric(sys, "troupe_requests_in_flight", "clerks") == 0);
}

// ---- death

/// Twelve calls at a replica that works on two at once and holds six: two have begun, four are held
/// back, six wait in line. It dies under them.
task<> nobody_is_forgotten(system& sys, bool idempotent) {
  auto options = clerks(1);
  options.max_ongoing = 2;
  options.max_queued = 6;
  if (idempotent) options.idempotent = {endpoint<&clerk::add_slowly>};
  auto one = co_await sys.serve<clerk>(options);
  std::vector<ending> ends(12);
  std::vector<task<>> calls;
  for (auto& end : ends) calls.push_back(note_end(add_slowly_routed(one), end));
  ending death;
  calls.push_back(note_end(die_soon(one), death));
  co_await all(std::move(calls));
  CHECK(starts_with(death.error, "replica_lost"));
  int lost = 0, answered = 0;
  for (const auto& end : ends) {
    lost += starts_with(end.error, "replica_lost");
    answered += end.error == "none";
  }
  CHECK(lost == (idempotent ? 0 : 6));
  CHECK(answered == (idempotent ? 12 : 6));
  CHECK(metric(sys, "troupe_requests_in_flight", "clerks") == 0);
  CHECK(metric(sys, "troupe_callers_waiting", "clerks") == 0);
}

task<> the_unrepeatable_is_not_repeated(system& sys) {
  auto four = co_await sys.serve<clerk>(clerks(4));
  const auto runs = std::make_shared<int>(0);
  const auto result = co_await four.try_route<&clerk::note>(runs);
  CHECK(kind_of(result) == error_kind::replica_lost);
  co_await sleep_for(10s);
  CHECK(*runs == 1);
  CHECK(metric(sys, "troupe_replica_restarts_total", "clerks") == 1);
}

task<> fanout_tells_of_a_death(system& sys) {
  auto three = co_await sys.serve<clerk>(clerks(3));
  const auto runs = std::make_shared<int>(0);
  ending end, death;
  const auto slowly = [](service<clerk> to) -> task<> {
    co_await to.fanout<&clerk::add_slowly>(1);
  };
  co_await all(note_end(slowly(three), end), note_end(die_soon(three), death));
  CHECK(end.error == "replica_lost: clerks.clerk::add_slowly: the replica died during the call");
  CHECK(end.after == 20ms);  // After the others had answered.
  const auto settled = co_await three.fanout_settled<&clerk::note>(runs);
  CHECK(settled.size() == 3);
  for (const auto& one : settled) CHECK(kind_of(one) == error_kind::replica_lost);
}

// ---- restarts

/// Starts: the first, then how often the next ones fail, in the constructor or in catching up.
struct convalescent {
  explicit convalescent(std::shared_ptr<std::vector<time_point>> starts) : starts(starts) {
    starts->push_back(detail::strand::current().now());
    if (starts->size() == 2 || starts->size() == 3) throw std::runtime_error("still ill");
  }
  task<> catch_up() {
    co_await sleep_for(1ms);
    if (starts->size() == 4) throw std::runtime_error("ill again");
  }
  void die() { throw fatal("asked to"); }
  int ask() { return static_cast<int>(starts->size()); }
  std::shared_ptr<std::vector<time_point>> starts;
};

task<> failing_starts_are_tried_again(system& sys) {
  const auto starts = std::make_shared<std::vector<time_point>>();
  auto one = co_await sys.serve<convalescent>(
      {.name = "clerks", .backoff = 100ms, .backoff_limit = 10s}, starts);
  co_await one.try_route<&convalescent::die>();
  const int made = co_await one.route<&convalescent::ask>();
  CHECK(made == 5);  // The first, three that failed, and the one that serves.
  const auto pause = [&](std::size_t i) { return starts->at(i) - starts->at(i - 1); };
  CHECK(pause(2) >= 75ms);
  CHECK(pause(3) >= 150ms);
  CHECK(pause(4) >= 300ms);
  CHECK(metric(sys, "troupe_replica_restarts_total", "clerks") == 4);
  CHECK(metric(sys, "troupe_replicas_ready", "clerks") == 1);
}

std::size_t lines(const std::string& text) { return occurrences(text, "\n"); }

task<> names_do_not_grow(system& sys) {
  auto options = clerks(2);
  options.max_restarts = 100;
  auto two = co_await sys.serve<clerk>(options);
  co_await error_of(die_routed(two));
  const auto before = co_await error_of(die_routed(two));
  co_await sleep_for(60s);
  co_await two.fanout<&clerk::index>();
  const auto series_before = lines(sys.metrics().text());
  for (int i = 0; i < 40; ++i) {
    const auto error = co_await error_of(die_routed(two));
    CHECK(error == before);
  }
  co_await sleep_for(60s);
  const auto indices = co_await two.fanout<&clerk::index>();
  CHECK(indices == std::vector<std::size_t>{0, 1});
  CHECK(two.name() == "clerks");
  CHECK(lines(sys.metrics().text()) == series_before);
}

// ---- sessions, counts, stopping

/// Notes how many sessions are open.
struct session_counter final : router {
  std::size_t pick(replica_view& view, std::uint64_t) override {
    open = 0;
    for (std::size_t i = 0; i < view.size(); ++i) open += view.sessions(i);
    return 0;
  }
  std::size_t open = 0;  // At the last call. The test's one thread is the only one.
};

task<> sessions_stay_home(system& sys) {
  const auto mine = std::make_shared<session_counter>();
  const auto others = std::make_shared<session_counter>();
  auto clerks = co_await sys.serve<clerk>({.name = "clerks", .replicas = 2, .router = mine});
  auto foreign = co_await sys.serve<clerk>({.name = "foreign", .replicas = 2, .router = others});
  {
    auto session = co_await clerks.session();
    co_await session.route<&clerk::add>(1);
    co_await foreign.route<&clerk::add>(1);
    co_await clerks.route<&clerk::index>();
    CHECK(mine->open == 1);
    CHECK(others->open == 0);
  }
  for (int i = 0; i < 100; ++i) {
    auto session = co_await clerks.session();
    co_await session.route<&clerk::add>(1);
  }
  co_await clerks.route<&clerk::index>();
  CHECK(mine->open == 0);
}

task<> every_call_is_counted(system& sys) {
  auto one = co_await sys.serve<clerk>(clerks(1));
  const auto start = detail::strand::current().now();
  for (int i = 0; i < 5000; ++i) co_await one.route<&clerk::add>(1);
  CHECK(detail::strand::current().now() - start < 1s);
  CHECK(metric(sys, "troupe_requests_total", "clerks", R"(outcome="ok",route="clerk::add",)") ==
        5000);
}

/// Two begun, four held back, six in line, as above; and the service is stopped.
task<> stopping_tells_everybody(system& sys) {
  auto options = clerks(1);
  options.max_ongoing = 2;
  options.max_queued = 6;
  auto one = co_await sys.serve<clerk>(options);
  std::vector<ending> ends(12);
  std::vector<task<>> calls;
  for (auto& end : ends) calls.push_back(note_end(add_slowly_routed(one), end));
  const auto stop = [](system* sys, service<clerk> which) -> task<> {
    co_await sleep_for(5ms);
    sys->stop(which);
  };
  calls.push_back(stop(&sys, one));
  co_await all(std::move(calls));
  for (const auto& end : ends) {
    CHECK(end.error == "service_down: clerks.clerk::add_slowly: it was stopped");
    CHECK(end.after == 5ms);
  }
}

}  // namespace

TEST_CASE(
    "promises: an endpoint's exception is thrown at its caller, not returned, and the replica goes "
    "on") {
  play(exceptions_are_thrown);
}
TEST_CASE("promises: wrong arguments cost their caller an error, and no replica its life") {
  play(wrong_arguments_harm_nobody);
}
TEST_CASE("promises: a caller that gives up harms no replica and nobody else's answer") {
  play(giving_up_harms_nobody);
}
TEST_CASE("promises: when a replica dies, calls begun, held back and in line all end") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    play([](system& sys) { return nobody_is_forgotten(sys, false); }, seed);
    play([](system& sys) { return nobody_is_forgotten(sys, true); }, seed);
  }
}
TEST_CASE("promises: a call that is not idempotent is executed once at most, whatever it kills") {
  play(the_unrepeatable_is_not_repeated);
}
TEST_CASE("promises: a fanout during which a replica dies is no success") {
  play(fanout_tells_of_a_death);
}
TEST_CASE(
    "promises: a replacement that fails at its start is followed by another, later each time") {
  play(failing_starts_are_tried_again);
}
TEST_CASE("promises: however often it is restarted, a replica keeps its index and its names") {
  play(names_do_not_grow);
}
TEST_CASE("promises: a session is its own service's, and ends with its handle") {
  play(sessions_stay_home);
}
TEST_CASE("promises: every call is counted, however many come in a second") {
  play(every_call_is_counted);
}
TEST_CASE("promises: stopping a service tells every caller at once, wherever its call stands") {
  play(stopping_tells_everybody);
}

}  // namespace troupe
