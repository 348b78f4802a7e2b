#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

struct clerk {
  explicit clerk(const replica_info& info) : info(info) {}
  std::size_t index() { return info.index; }
  std::size_t generation() { return info.generation; }
  task<std::size_t> work(duration pause) {
    tracked here;
    co_await sleep_for(pause);
    co_return info.index;
  }
  void die() { throw fatal("asked to"); }
  const replica_info info;
};

serve_options clerks(std::size_t replicas) {
  return {.name = "clerks", .replicas = replicas, .router = routing::round_robin()};
}

time_point now() { return detail::strand::current().now(); }

task<outcome<std::size_t>> work_routed(service<clerk> to, duration pause) {
  auto result = co_await to.try_route<&clerk::work>(pause);
  co_return result;
}
task<> work_in_session(session<clerk> mine, duration pause) {
  co_await mine.route<&clerk::work>(pause);
}
task<> index_routed(service<clerk> to) { co_await to.route<&clerk::index>(); }
task<> die_in_session(session<clerk> mine) { co_await mine.route<&clerk::die>(); }
task<> scale_soon(system& sys, service<clerk> which, std::size_t replicas) {
  co_await sleep_for(1ms);
  co_await sys.scale(which, replicas);
}
task<> stop_soon(system& sys, service<clerk> which) {
  co_await sleep_for(10ms);
  sys.stop(which);
}
task<> hold_session(service<clerk> which, std::size_t count, duration pause) {
  std::vector<session<clerk>> open;
  for (std::size_t i = 0; i < count; ++i) open.push_back(co_await which.session());
  co_await sleep_for(pause);
}

// ---- growing

struct pupil {
  pupil(const replica_info& info, std::shared_ptr<int> lessons) : info(info), lessons(lessons) {}
  task<> catch_up() {
    co_await sleep_for(20ms);
    version = *lessons;
  }
  int known() { return version; }
  const replica_info info;
  std::shared_ptr<int> lessons;
  int version = 0;
};

task<> grows(system& sys) {
  const auto lessons = std::make_shared<int>(1);
  auto pupils =
      co_await sys.serve<pupil>({.name = "clerks", .replicas = 2}, std::shared_ptr<int>(lessons));
  *lessons = 7;
  const auto start = now();
  co_await sys.scale(pupils, 4);
  CHECK(now() - start == 20ms);  // They have caught up, at the same time.
  const auto known = co_await pupils.fanout<&pupil::known>();
  CHECK(known == std::vector<int>{1, 1, 7, 7});
  CHECK(metric(sys, "troupe_replicas_desired", "clerks") == 4);
  CHECK(metric(sys, "troupe_replicas_ready", "clerks") == 4);
  CHECK(metric(sys, "troupe_replica_restarts_total", "clerks") == 0);
}

struct picky {
  explicit picky(const replica_info& info) {
    if (info.index >= 2) throw std::runtime_error("no such device");
  }
  int ask() { return 1; }
};

task<> cannot_grow(system& sys) {
  auto two = co_await sys.serve<picky>(
      {.name = "clerks", .replicas = 2, .max_restarts = 3, .backoff = 1ms});
  const auto error = co_await error_of(sys.scale(two, 4));
  CHECK(starts_with(error, "replica_lost: clerks: scale: replica "));
  CHECK_THAT(error,
             has_text("could not be started: more than 3 restarts in 60 s; the last replica died "
                      "because: its role's constructor threw: no such device; it goes on "
                      "with 2"));
  CHECK(metric(sys, "troupe_replicas_desired", "clerks") == 2);
  const auto answers = co_await two.fanout<&picky::ask>();
  CHECK(answers.size() == 2);
}

// ---- shrinking

task<> lets_them_finish(system& sys) {
  auto four = co_await sys.serve<clerk>(clerks(4));
  std::vector<task<outcome<std::size_t>>> calls;
  for (int i = 0; i < 40; ++i) calls.push_back(work_routed(four, 50ms));  // Ten a replica.
  std::vector<task<>> beside;
  beside.push_back(scale_soon(sys, four, 2));
  const auto start = now();
  const auto both = co_await all(all(std::move(calls)), all(std::move(beside)));
  CHECK(now() - start == 50ms);
  std::vector<int> answered(4);
  for (const auto& result : std::get<0>(both)) ++answered[result.value()];
  CHECK(answered == std::vector<int>{10, 10, 10, 10});
  const auto indices = co_await four.fanout<&clerk::index>();
  CHECK(indices == std::vector<std::size_t>{0, 1});
  CHECK(metric(sys, "troupe_replica_restarts_total", "clerks") == 0);
  CHECK(sys.actors() == 4);  // The driver's, the supervisor's, two replicas.
  // What they counted is kept.
  CHECK(metric(sys, "troupe_requests_total", "clerks", R"(outcome="ok",route="clerk::work",)") ==
        40);
}

task<> leaves_the_table_at_once(system& sys) {
  auto options = clerks(3);
  options.max_ongoing = 1;
  auto three = co_await sys.serve<clerk>(options);
  std::vector<task<outcome<std::size_t>>> calls;
  for (int i = 0; i < 6; ++i) calls.push_back(work_routed(three, 20ms));  // One waits at each.
  const auto looks = [](system* sys, service<clerk> three) -> task<> {
    co_await sleep_for(5ms);
    CHECK(metric(*sys, "troupe_replicas_desired", "clerks") == 1);
    CHECK(metric(*sys, "troupe_replicas_ready", "clerks") == 1);
    CHECK(metric(*sys, "troupe_replicas_draining", "clerks") == 2);
    CHECK(metric(*sys, "troupe_requests_in_flight", "clerks") == 6);
    for (int i = 0; i < 5; ++i) {
      const auto mine = co_await three.session();
      CHECK(mine.replica() == 0);
    }
    const auto fanned = co_await three.fanout<&clerk::index>();
    CHECK(fanned == std::vector<std::size_t>{0});
  };
  std::vector<task<>> beside;
  beside.push_back(scale_soon(sys, three, 1));
  beside.push_back(looks(&sys, three));
  const auto both = co_await all(all(std::move(calls)), all(std::move(beside)));
  for (const auto& result : std::get<0>(both)) CHECK(result.ok());
  CHECK(metric(sys, "troupe_replicas_draining", "clerks") == 0);
  CHECK(metric(sys, "troupe_requests_in_flight", "clerks") == 0);
}

task<> talk(service<clerk> to) {
  const auto mine = co_await to.session();
  for (int i = 0; i < 10; ++i) co_await mine.route<&clerk::work>(10ms);
}

task<> waits_for_sessions(system& sys) {
  auto two = co_await sys.serve<clerk>(clerks(2));
  std::vector<task<>> beside;
  for (int i = 0; i < 2; ++i) beside.push_back(talk(two));
  beside.push_back(scale_soon(sys, two, 1));
  const auto start = now();
  co_await all(std::move(beside));
  CHECK(now() - start == 100ms);  // Not one sentence less.
  CHECK(sys.actors() == 3);
}

task<> waits_no_longer_than_it_should(system& sys) {
  auto options = clerks(2);
  options.drain_timeout = 100ms;
  options.idempotent = {endpoint<&clerk::index>};
  auto two = co_await sys.serve<clerk>(options);
  std::vector<session<clerk>> open;
  for (int i = 0; i < 2; ++i) open.push_back(co_await two.session());
  const auto& on_second = open[open[0].replica() == 1 ? 0 : 1];
  const auto start = now();
  std::vector<task<std::string>> ends;
  ends.push_back(error_of(work_in_session(on_second, 1h)));
  ends.push_back(error_of(scale_soon(sys, two, 1)));
  const auto errors = co_await all(std::move(ends));
  CHECK(now() - start == 101ms);
  CHECK(errors[0] ==
        "session_lost: clerks.clerk::work: its replica was removed before it had finished");
  CHECK(errors[1] == "none");
  const auto later = co_await error_of(work_in_session(on_second, 1ms));
  CHECK(later == "session_lost: clerks.clerk::work: replica 1 was removed");
  co_await sleep_for(1ms);  // Its actor has been told to end.
  CHECK(tracked::live == 0);
  CHECK(metric(sys, "troupe_replica_restarts_total", "clerks") == 0);
}

task<> late_calls_are_no_poison(system& sys) {
  auto options = clerks(3);
  options.drain_timeout = 10ms;
  options.idempotent = {endpoint<&clerk::work>};
  options.poison_limit = 1;
  auto three = co_await sys.serve<clerk>(options);
  std::vector<task<outcome<std::size_t>>> calls;
  for (int i = 0; i < 9; ++i) calls.push_back(work_routed(three, 200ms));
  std::vector<task<>> beside;
  beside.push_back(scale_soon(sys, three, 1));
  const auto both = co_await all(all(std::move(calls)), all(std::move(beside)));
  for (const auto& result : std::get<0>(both)) CHECK(result.value() == 0);
  CHECK(metric(sys, "troupe_retries_total", "clerks") == 6);
}

// A fanout asks the replicas that serve when it is their turn, and one that is removed first is not
// missed.
task<> fanout_meets_a_removal(system& sys) {
  auto options = clerks(2);
  options.max_queued = 1;
  auto two = co_await sys.serve<clerk>(options);
  std::vector<task<outcome<std::size_t>>> calls;
  for (int i = 0; i < 2; ++i) calls.push_back(work_routed(two, 50ms));
  const auto ask_all = [](service<clerk> two) -> task<> {
    co_await sleep_for(500us);
    const auto indices = co_await two.fanout<&clerk::index>();  // Waits for room at both.
    CHECK(indices == std::vector<std::size_t>{0});
  };
  std::vector<task<>> beside;
  beside.push_back(ask_all(two));
  beside.push_back(scale_soon(sys, two, 1));
  co_await all(all(std::move(calls)), all(std::move(beside)));
}

// ---- one after the other, and at bad moments

/// A growth ends where a request for fewer replicas comes.
task<> scale_or_be_ended(system& sys, service<clerk> which, std::size_t replicas) {
  const auto error = co_await error_of(sys.scale(which, replicas));
  if (error != "none") CHECK(starts_with(error, "cancelled: clerks: scale: a later request for "));
}

task<> one_after_the_other(system& sys) {
  auto one = co_await sys.serve<clerk>(clerks(1));
  std::vector<task<>> beside;
  for (const std::size_t n : {4u, 2u, 5u, 1u, 3u}) beside.push_back(scale_or_be_ended(sys, one, n));
  for (int i = 0; i < 4; ++i) beside.push_back(hold_session(one, 2, 5ms));
  co_await all(std::move(beside));
  const auto indices = co_await one.fanout<&clerk::index>();
  CHECK(indices == std::vector<std::size_t>{0, 1, 2});
  // An index that comes back gets another generation: no two roles draw the same numbers.
  const auto generations = co_await one.fanout<&clerk::generation>();
  CHECK(generations[1] > 0);
  CHECK(generations[2] > 0);
}

task<> during_restarts(system& sys) {
  auto options = clerks(3);
  options.backoff = 100ms;
  auto three = co_await sys.serve<clerk>(options);
  for (int i = 0; i < 6; ++i) {  // Each dies twice: all restarts are some time away.
    co_await three.try_route<&clerk::die>();
    co_await sleep_for(1us);
  }
  CHECK(metric(sys, "troupe_replicas_ready", "clerks") == 0);
  co_await sys.scale(three, 1);  // Waits for the first; the others have nothing to finish.
  CHECK(metric(sys, "troupe_replicas_ready", "clerks") == 1);
  co_await sys.scale(three, 2);
  CHECK(metric(sys, "troupe_replicas_ready", "clerks") == 2);
  co_await sleep_for(10s);
  CHECK(metric(sys, "troupe_replicas_ready", "clerks") == 2);
  CHECK(sys.actors() == 4);
}

task<> dies_while_it_drains(system& sys) {
  auto two = co_await sys.serve<clerk>(clerks(2));
  std::vector<session<clerk>> open;
  for (int i = 0; i < 2; ++i) open.push_back(co_await two.session());
  const auto dies = [](session<clerk> mine) -> task<> {
    co_await sleep_for(5ms);
    const auto error = co_await error_of(die_in_session(mine));
    CHECK(starts_with(error, "session_lost"));
  };
  const auto start = now();
  std::vector<task<>> beside;
  beside.push_back(dies(open[open[0].replica() == 1 ? 0 : 1]));
  beside.push_back(scale_soon(sys, two, 1));
  co_await all(std::move(beside));
  CHECK(now() - start == 5ms);
  co_await sleep_for(10s);
  CHECK(metric(sys, "troupe_replica_restarts_total", "clerks") == 0);
  CHECK(metric(sys, "troupe_replicas_ready", "clerks") == 1);
}

task<> refuses_nonsense(system& sys) {
  auto one = co_await sys.serve<clerk>(clerks(1));
  const auto none = co_await error_of(sys.scale(one, 0));
  CHECK(none ==
        "service \"clerks\": scale: replicas: expected a number > 0, got 0; `stop` ends a service");
  CHECK_THROWS_AS(sys.scale(service<clerk>(), 1), std::logic_error);
  co_await sys.scale(one, 1);
  sys.stop(one);
  const auto stopped = co_await error_of(sys.scale(one, 2));
  CHECK(stopped == "service_down: clerks: scale: it was stopped");
}

task<> stops_during_a_drain(system& sys) {
  auto two = co_await sys.serve<clerk>(clerks(2));
  std::vector<session<clerk>> open;
  for (int i = 0; i < 2; ++i) open.push_back(co_await two.session());
  std::vector<task<std::string>> ends;
  ends.push_back(error_of(sys.scale(two, 1)));
  ends.push_back(error_of(sys.scale(two, 5)));
  ends.push_back(error_of(stop_soon(sys, two)));
  const auto errors = co_await all(std::move(ends));
  CHECK(errors[0] == "service_down: clerks: scale: it was stopped");
  CHECK(errors[1] == "service_down: clerks: scale: it was stopped");
  co_await sleep_for(1ms);
  CHECK(sys.actors() == 1);
  const auto later = co_await error_of(index_routed(two));
  CHECK(starts_with(later, "service_down"));
}

}  // namespace

TEST_CASE("scale: new replicas catch up, and then all serve") { testing::play(grows); }
TEST_CASE("scale: a service whose new replicas can't be started goes on with the old ones") {
  testing::play(cannot_grow);
}
TEST_CASE("scale: removed replicas finish what they hold, and end without a restart") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) testing::play(lets_them_finish, seed);
}
TEST_CASE("scale: removed replicas get no new call and no new session") {
  testing::play(leaves_the_table_at_once);
}
TEST_CASE("scale: a removed replica serves its open sessions to their end") {
  testing::play(waits_for_sessions);
}
TEST_CASE("scale: after drain_timeout a session on a removed replica is lost") {
  testing::play(waits_no_longer_than_it_should);
}
TEST_CASE("scale: idempotent calls that outlast drain_timeout are retried, and no poison") {
  testing::play(late_calls_are_no_poison);
}
TEST_CASE("scale: a fanout leaves out a replica that is removed before it is asked") {
  testing::play(fanout_meets_a_removal);
}
TEST_CASE("scale: changes come one after the other") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) testing::play(one_after_the_other, seed);
}
TEST_CASE("scale: during restarts those to be removed don't come back") {
  testing::play(during_restarts);
}
TEST_CASE("scale: a replica that dies while it drains is not restarted") {
  testing::play(dies_while_it_drains);
}
TEST_CASE("scale: no replicas, no service and a stopped service are refused") {
  testing::play(refuses_nonsense);
}
TEST_CASE("scale: stopping the service ends a change that is under way") {
  testing::play(stops_during_a_drain);
}

}  // namespace troupe
