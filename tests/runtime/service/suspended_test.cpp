// Actors that end while coroutines of theirs are suspended, three frames deep and more, in whatever
// they can wait for. Every frame is destroyed, once; who called hears of it, once. ./dev sanitize
// address sees what is used after that.

#include "runtime/coroutine/channel.hpp"
#include "runtime/coroutine/condition.hpp"
#include "runtime/service/call/caller.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

// ---- what there is to wait for

struct other {
  task<> hold() { co_await sleep_for(1h); }
  void die() { throw fatal("asked to"); }
};
struct never_ready {
  task<> catch_up() { co_await sleep_for(1h); }
  int ask() { return 0; }
};

struct world {
  system* sys = nullptr;
  service<other> idle;    // Holds a call for an hour.
  service<other> full;    // Has no room for another one.
  service<other> absent;  // Its replica is dead, and comes back in an hour.
  service<other> mayfly;  // Dies of each call, which is tried again and again.
};

task<> occupy(service<other> full) { co_await full.route<&other::hold>(); }

task<world> make_world(system& sys) {
  world w{.sys = &sys};
  w.idle = co_await sys.serve<other>({.name = "idle"});
  w.full = co_await sys.serve<other>({.name = "full", .max_queued = 1});
  w.absent = co_await sys.serve<other>({.name = "absent", .backoff = 1h, .backoff_limit = 1h});
  for (int i = 0; i < 2; ++i) co_await w.absent.try_route<&other::die>();
  w.mayfly = co_await sys.serve<other>({.name = "mayfly",
                                        .max_restarts = 1'000'000,
                                        .backoff = 1ms,
                                        .backoff_limit = 1ms,
                                        .idempotent = {endpoint<&other::die>},
                                        .max_retries = 1'000'000,
                                        .poison_limit = 1'000'000});
  co_return w;
}

// ---- the actor that ends

class patient {
 public:
  explicit patient(world w) : with(std::move(w)), full(1) {}

  /// Three frames deep, and what `innermost` adds.
  task<int> wait(task<> (*innermost)(patient&)) {
    tracked here;
    co_await wait_deeper(innermost);
    co_return 0;
  }
  task<> die_deep() {
    tracked here;
    co_await die_deeper();
  }
  detail::ref<detail::inbox> where() { return detail::caller::current().me(); }
  int ping() { return 1; }

  const world with;
  channel<int> empty{1};
  channel<int> full;
  condition never;

 private:
  task<> wait_deeper(task<> (*innermost)(patient&)) {
    tracked here;
    co_await innermost(*this);
  }
  task<> die_deeper() {
    tracked here;
    co_await sleep_for(10us);
    throw fatal("asked to, deep inside");
  }
};

task<> sleep_long() {
  tracked here;
  co_await sleep_for(1h);
}
task<> sleep_in_group(group& g) {
  tracked here;
  g.start(sleep_long());
  g.start(sleep_long());
  co_await g.join();
}

namespace waits {

task<> for_time(patient&) {
  tracked here;
  co_await sleep_for(1h);
}
task<> for_an_answer(patient& p) {
  tracked here;
  co_await p.with.idle.route<&other::hold>();
}
task<> for_an_answer_in_time(patient& p) {
  tracked here;
  const auto limited = p.with.idle.with({.deadline = 30min});
  co_await limited.route<&other::hold>();
}
task<> for_every_answer(patient& p) {
  tracked here;
  co_await p.with.idle.fanout<&other::hold>();
}
task<> for_room(patient& p) {
  tracked here;
  co_await p.with.full.route<&other::hold>();
}
task<> for_another_try(patient& p) {
  tracked here;
  co_await p.with.mayfly.route<&other::die>();
}
task<> for_a_session(patient& p) {
  tracked here;
  co_await p.with.absent.session();
}
task<> for_a_service(patient& p) {
  tracked here;
  co_await p.with.sys->serve<never_ready>({.name = "never ready"});
}
task<> for_an_item(patient& p) {
  tracked here;
  co_await p.empty.receive();
}
task<> for_room_in_a_channel(patient& p) {
  tracked here;
  co_await p.full.send(1);
  co_await p.full.send(2);
}
task<> for_a_condition(patient& p) {
  tracked here;
  co_await p.never.wait();
}
task<> for_a_group(patient&) {
  tracked here;
  co_await with_group(sleep_in_group);
}
task<> for_all(patient&) {
  tracked here;
  co_await all(sleep_long(), sleep_long());
}
task<> for_any(patient&) {
  tracked here;
  co_await any(sleep_long(), sleep_long());
}
task<> for_a_timeout(patient&) {
  tracked here;
  co_await with_timeout(sleep_long(), 30min);
}

}  // namespace waits

struct wait_kind {
  const char* name;
  task<> (*innermost)(patient&);
  int frames;  // Tracked ones, from the endpoint's on.
};

const wait_kind kinds[] = {
    {"sleep_for", waits::for_time, 3},
    {"route", waits::for_an_answer, 3},
    {"route with a deadline", waits::for_an_answer_in_time, 3},
    {"fanout", waits::for_every_answer, 3},
    {"route, in the line", waits::for_room, 3},
    {"route, retried", waits::for_another_try, 3},
    {"session", waits::for_a_session, 3},
    {"serve", waits::for_a_service, 3},
    {"channel, receive", waits::for_an_item, 3},
    {"channel, send", waits::for_room_in_a_channel, 3},
    {"condition", waits::for_a_condition, 3},
    {"with_group", waits::for_a_group, 6},
    {"all", waits::for_all, 5},
    {"any", waits::for_any, 5},
    {"with_timeout", waits::for_a_timeout, 4},
};

// ---- how it ends

task<int> call(service<patient> patients, const wait_kind& kind) {
  const int n = co_await patients.route<&patient::wait>(kind.innermost);
  co_return n;
}

/// A caller of three frames, too.
task<int> call_deep(service<patient> patients, const wait_kind& kind) {
  tracked here;
  const int n = co_await call(patients, kind);
  co_return n;
}

task<> call_deeper(service<patient> patients, const wait_kind& kind, std::string& end) {
  tracked here;
  end = co_await error_of(call_deep(patients, kind));
}

using ending = task<> (*)(system&, service<patient>);

task<> by_kill(system&, service<patient> patients) {
  const auto where = co_await patients.route<&patient::where>();
  where->kill("a test");
}
task<> by_fatal(system&, service<patient> patients) {
  co_await error_of(
      [](service<patient> p) -> task<> { co_await p.route<&patient::die_deep>(); }(patients));
}
task<> by_stop(system& sys, service<patient> patients) {
  sys.stop(patients);
  co_return;
}
task<> by_program_end(system& sys, service<patient>) {
  sys.cancel();
  co_await sleep_for(1h);
}

struct findings {
  int frames_before = 0;  // While it waited, its two callers' included.
  int frames_after = 0;
  std::string end;
};

task<> wait_and_end(group& g, system& sys, const wait_kind& kind, ending end_it, duration settle,
                    findings& f) {
  const auto w = co_await make_world(sys);
  g.start(occupy(w.full));
  auto patients = co_await sys.serve<patient>({.name = "patients"}, w);
  co_await sleep_for(settle);  // The line of the full one is where the test needs it.
  f.end = "unfinished";
  g.start(call_deeper(patients, kind, f.end));
  co_await sleep_for(settle);
  f.frames_before = tracked::live;
  co_await end_it(sys, patients);
  co_await sleep_for(settle);
  f.frames_after = tracked::live;
  if (end_it != by_stop) co_await patients.route<&patient::ping>();  // Its replacement serves.
}

task<> run_ending(system& sys, const wait_kind& kind, ending end_it, duration settle, findings& f) {
  return with_group([&sys, &kind, end_it, settle, &f](group& g) {
    return wait_and_end(g, sys, kind, end_it, settle, f);
  });
}

/// Of each kind of wait, in several orders of events.
void check_each(ending end_it, const std::string& expected) {
  log_off();
  for (const auto& kind : kinds) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      INFO(kind.name << ", seed " << seed);
      findings f;
      {
        system sys({.deterministic = true, .seed = seed});
        sys.run(run_ending(sys, kind, end_it, 1ms, f));
      }
      CHECK(f.frames_before == kind.frames + 2);
      CHECK(f.frames_after == 0);
      CHECK(f.end == expected);
      CHECK(tracked::live == 0);
    }
  }
}

}  // namespace

TEST_CASE("suspended: a kill destroys every frame, whatever it waits for, and its caller hears") {
  check_each(by_kill, "replica_lost: patients.patient::wait: the replica died during the call");
}

TEST_CASE("suspended: fatal in another call destroys every frame, and its caller hears") {
  check_each(by_fatal, "replica_lost: patients.patient::wait: the replica died during the call");
}

TEST_CASE("suspended: stopping the service destroys every frame, and its caller hears") {
  check_each(by_stop, "service_down: patients.patient::wait: it was stopped");
}

TEST_CASE("suspended: the program's end destroys every frame, the caller's first") {
  log_off();
  for (const auto& kind : kinds) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      INFO(kind.name << ", seed " << seed);
      findings f;
      {
        system sys({.deterministic = true, .seed = seed});
        CHECK_THROWS_WITH(sys.run(run_ending(sys, kind, by_program_end, 1ms, f)),
                          has_text("cancelled"));
        CHECK(tracked::live == kind.frames);  // The replica's own: nobody has told it to end.
      }
      CHECK(f.frames_before == kind.frames + 2);
      CHECK(f.end == "unfinished");
      CHECK(tracked::live == 0);
    }
  }
}

namespace {

task<> cancel_the_caller(group& g, system& sys, const wait_kind& kind) {
  const auto w = co_await make_world(sys);
  g.start(occupy(w.full));
  auto patients = co_await sys.serve<patient>({.name = "patients"}, w);
  co_await sleep_for(1ms);
  std::string end = "unfinished";
  const auto gone = co_await error_of(with_timeout(call_deeper(patients, kind, end), 1ms));
  CHECK(starts_with(gone, "deadline_exceeded: with_timeout"));
  CHECK(end == "unfinished");
  const int n = co_await patients.route<&patient::ping>();
  CHECK(n == 1);  // The replica is not harmed; what it had begun for the caller is cancelled.
  CHECK(tracked::live == 0);
  CHECK(metric(sys, "troupe_replica_restarts_total", "patients") == 0);
}

task<> run_cancelling(system& sys, const wait_kind& kind) {
  return with_group([&sys, &kind](group& g) { return cancel_the_caller(g, sys, kind); });
}

}  // namespace

TEST_CASE("suspended: cancelling the caller destroys every frame and leaves the replica alive") {
  log_off();
  for (const auto& kind : kinds) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      INFO(kind.name << ", seed " << seed);
      system sys({.deterministic = true, .seed = seed});
      sys.run(run_cancelling(sys, kind));
      CHECK(tracked::live == 0);
    }
  }
}

// ---- on real threads

namespace {

task<> end_later(system& sys, service<patient> patients, ending end_it, duration pause) {
  co_await sleep_for(pause);
  co_await end_it(sys, patients);
}

task<> end_while_waiting(group& g, system& sys, const wait_kind& kind, ending end_it,
                         duration pause, std::string& end) {
  const auto w = co_await make_world(sys);
  g.start(occupy(w.full));
  auto patients = co_await sys.serve<patient>({.name = "patients"}, w);
  co_await all(call_deeper(patients, kind, end), end_later(sys, patients, end_it, pause));
}

task<> run_ending_on_threads(system& sys, const wait_kind& kind, ending end_it, duration pause,
                             std::string& end) {
  return with_group([&sys, &kind, end_it, pause, &end](group& g) {
    return end_while_waiting(g, sys, kind, end_it, pause, end);
  });
}

}  // namespace

TEST_CASE("suspended: on real threads nothing is left either, whenever the end comes") {
  log_off();
  for (const auto& kind : kinds) {
    for (const auto& end_it : {by_kill, by_fatal, by_stop}) {
      for (const auto pause : {0us, 100us, 300us}) {
        INFO(kind.name << ", after " << pause.count() << " us");
        std::string end;
        {
          system sys({.threads = 4});
          sys.run(run_ending_on_threads(sys, kind, end_it, pause, end));
        }
        CHECK(starts_with(end, end_it == by_stop ? "service_down" : "replica_lost"));
        CHECK(tracked::live == 0);
      }
    }
  }
}

// ---- an end that comes from within

namespace {

struct self_ending {
  task<int> stop_and_go_on(system* sys, service<self_ending> me) {
    tracked here;
    sys->stop(me);
    ++steps;  // It runs on until it waits.
    co_await wait_on();
    co_return ++steps;
  }
  task<> wait_on() {
    tracked here;
    ++*reached;
    co_await sleep_for(1h);
    ++*reached;
  }
  std::shared_ptr<int> reached;
  int steps = 0;
};

task<> call_self_ending(system& sys) {
  const auto reached = std::make_shared<int>(0);
  auto one = co_await sys.serve<self_ending>({.name = "one"}, reached);
  const auto result = co_await one.try_route<&self_ending::stop_and_go_on>(&sys, one);
  CHECK(kind_of(result) == error_kind::service_down);
  co_await sleep_for(2h);
  CHECK(*reached == 1);
  CHECK(tracked::live == 0);
}

}  // namespace

TEST_CASE("suspended: a coroutine that ends its own actor runs on until it waits, and no further") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) play(call_self_ending, seed);
}

}  // namespace troupe
