#include <sstream>

#include "tests/runtime/metrics/series.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Dies on demand.
struct mortal {
  explicit mortal(const replica_info& info) : info(info) {}
  int add(int n) { return total += n; }
  void die() { throw fatal("asked to"); }
  void die_over(int, const std::string&, const std::vector<float>&) { throw fatal("asked to"); }
  task<> die_in(duration pause) {
    co_await sleep_for(pause);
    throw fatal("asked to, later");
  }
  task<int> slow(int n, duration pause) {
    tracked here;
    co_await sleep_for(pause);
    co_return n;
  }
  batch<int> gather(batch<int> items) {
    for (const int n : items) {
      if (n == 13) throw fatal("thirteen");
    }
    return items;
  }
  void fail() { throw std::runtime_error("not fatal"); }
  std::size_t generation() { return info.generation; }
  std::size_t index() { return info.index; }
  replica_info info;
  int total = 0;
};

serve_options mortals(std::size_t replicas = 1) {
  return {.name = "mortals", .replicas = replicas, .router = routing::round_robin()};
}

task<outcome<int>> slowly(service<mortal> to, int n, duration pause) {
  auto result = co_await to.try_route<&mortal::slow>(n, pause);
  co_return result;
}

task<> die_routed(service<mortal> to) { co_await to.route<&mortal::die>(); }
task<> die_later_routed(service<mortal> to) { co_await to.route<&mortal::die_in>(10ms); }
task<> slow_routed(service<mortal> to) { co_await to.route<&mortal::slow>(1, 50ms); }
task<> add_routed(service<mortal> to) { co_await to.route<&mortal::add>(1); }
task<> gather_routed(service<mortal> to, int n) { co_await to.route<&mortal::gather>(n); }
task<> die_in_session(session<mortal> to) { co_await to.route<&mortal::die>(); }
task<> add_in_session(session<mortal> to) { co_await to.route<&mortal::add>(1); }
task<> die_soon(service<mortal> to) {
  co_await sleep_for(10ms);
  co_await to.try_route<&mortal::die>();
}
task<> stop_soon(system& sys, service<mortal> which) {
  co_await sleep_for(10ms);
  sys.stop(which);
}

// ---- death during a call

task<> loses_those_in_flight(system& sys) {
  auto two = co_await sys.serve<mortal>(mortals(2));
  std::vector<task<outcome<int>>> calls;
  for (int i = 0; i < 10; ++i) calls.push_back(slowly(two, i, 50ms));
  calls.push_back(slowly(two, 10, 1ms));
  std::vector<task<>> deaths;
  deaths.push_back(die_soon(two));
  const auto both = co_await all(all(std::move(calls)), all(std::move(deaths)));
  const auto& results = std::get<0>(both);
  int lost = 0;
  for (int i = 0; i < 10; ++i) {
    const auto& r = results[static_cast<std::size_t>(i)];
    if (r.ok()) {
      CHECK(r.value() == i);
    } else {
      CHECK(kind_of(r) == error_kind::replica_lost);
      ++lost;
    }
  }
  CHECK(lost == 5);
  CHECK(results[10].ok());
  CHECK(tracked::live == 0);
}

task<> retries_the_idempotent(system& sys) {
  auto options = mortals(2);
  options.idempotent = {endpoint<&mortal::slow>};
  auto two = co_await sys.serve<mortal>(options);
  std::vector<task<outcome<int>>> calls;
  for (int i = 0; i < 10; ++i) calls.push_back(slowly(two, i, 50ms));
  std::vector<task<>> deaths;
  deaths.push_back(die_soon(two));
  const auto both = co_await all(all(std::move(calls)), all(std::move(deaths)));
  for (int i = 0; i < 10; ++i) CHECK(std::get<0>(both)[static_cast<std::size_t>(i)].value() == i);
  CHECK(metric(sys, "troupe_retries_total", "mortals") == 5);
}

task<> refuses_poison(system& sys) {
  auto options = mortals(4);
  options.idempotent = {endpoint<&mortal::die>};
  auto four = co_await sys.serve<mortal>(options);
  const auto refused = co_await four.try_route<&mortal::die>();
  CHECK(kind_of(refused) == error_kind::poison);
  co_await sleep_for(1s);
  CHECK(metric(sys, "troupe_replica_restarts_total", "mortals") == 2);
}

task<> logs_no_text_of_poison(system& sys) {
  auto options = mortals(4);
  options.idempotent = {endpoint<&mortal::die_over>};
  auto four = co_await sys.serve<mortal>(options);
  const auto prompt = "my password is 1234\nforged=1 " + std::string(100'000, 'x');
  const captured_stderr log;
  log::set_level("error");
  const auto refused =
      co_await four.try_route<&mortal::die_over>(7, prompt, std::vector<float>(12));
  log::set_level("off");
  CHECK(kind_of(refused) == error_kind::poison);
  const auto text = log.text();
  CHECK_THAT(text, has_text("service=mortals endpoint=mortal::die_over arguments=\"7 <text of " +
                            std::to_string(prompt.size()) + " bytes> <std::vector<float"));
  CHECK_THAT(text, has_text(" of 12>\" killed=2"));
  CHECK(text.find("password") == std::string::npos);
  CHECK(text.find("forged") == std::string::npos);
  CHECK(text.size() < 1000);
}

// Calls that only stood in the queues of dying replicas are not to blame.
task<> poison_is_only_who_ran(system& sys) {
  auto options = mortals(1);
  options.idempotent = {endpoint<&mortal::die_in>, endpoint<&mortal::slow>};
  options.max_ongoing = 1;
  auto one = co_await sys.serve<mortal>(options);
  std::vector<task<std::string>> ends;
  ends.push_back(error_of(die_later_routed(one)));
  ends.push_back(error_of(slow_routed(one)));
  const auto both = co_await all(std::move(ends));
  CHECK(starts_with(both[0], "poison"));
  CHECK(both[1] == "none");
}

// Each attempt kills its replica, and poison is out of the way.
task<> retries_have_an_end(system& sys) {
  auto options = mortals(8);
  options.idempotent = {endpoint<&mortal::die>};
  options.max_retries = 3;
  options.poison_limit = 100;
  auto eight = co_await sys.serve<mortal>(options);
  const auto start = detail::strand::current().now();
  const auto lost = co_await error_of(die_routed(eight));
  const auto took = detail::strand::current().now() - start;
  CHECK(lost == "replica_lost: mortals.mortal::die: lost 4 times");
  CHECK(took >= 175ms);  // 25, 50 and 100 ms before the attempts after the first.
  CHECK(took <= 190ms);  // Each to 5 ms.
  CHECK(metric(sys, "troupe_retries_total", "mortals") == 3);
}

task<> batches_die_together(system& sys) {
  auto one = co_await sys.serve<mortal>(mortals());
  std::vector<task<std::string>> ends;
  for (int i = 10; i < 15; ++i) ends.push_back(error_of(gather_routed(one, i)));
  const auto errors = co_await all(std::move(ends));
  int lost = 0;
  for (const auto& e : errors) lost += starts_with(e, "replica_lost");
  CHECK(lost >= 1);
  CHECK(starts_with(errors[3], "replica_lost"));
  const auto after = co_await one.route<&mortal::gather>(1);
  CHECK(after == 1);
}

task<> tells_sessions(system& sys) {
  auto two = co_await sys.serve<mortal>(mortals(2));
  auto mine = co_await two.session();
  co_await mine.route<&mortal::add>(5);
  const auto during = co_await error_of(die_in_session(mine));
  CHECK(during == "session_lost: mortals.mortal::die: its replica died during the call");
  const auto later = co_await error_of(add_in_session(mine));
  CHECK(starts_with(later, "session_lost"));
  auto fresh = co_await two.session();
  const int total = co_await fresh.route<&mortal::add>(1);
  CHECK(total == 1);
}

// ---- restarts

task<> restarts_with_fresh_state(system& sys) {
  auto one = co_await sys.serve<mortal>(mortals());
  co_await one.route<&mortal::add>(5);
  co_await one.try_route<&mortal::die>();
  const int total = co_await one.route<&mortal::add>(1);  // Waits for the restart.
  CHECK(total == 1);
  const auto generation = co_await one.route<&mortal::generation>();
  CHECK(generation == 1);
  const auto all_of_them = co_await one.fanout<&mortal::generation>();
  CHECK(all_of_them == std::vector<std::size_t>{1});
}

task<> fanout_waits_for_a_restart(system& sys) {
  auto one = co_await sys.serve<mortal>(mortals());
  for (int i = 0; i < 3; ++i) {
    co_await one.try_route<&mortal::die>();
    co_await sleep_for(1ms);
    const auto generations = co_await one.fanout<&mortal::generation>();
    CHECK(generations == std::vector<std::size_t>{static_cast<std::size_t>(i + 1)});
  }
  co_await one.try_route<&mortal::die>();
  co_await sleep_for(1ms);
  const auto hurried = one.with({.deadline = 5ms});
  const auto late = co_await error_of(hurried.fanout<&mortal::generation>());
  CHECK(late == "deadline_exceeded: mortals: no replica was ready within 5 ms");
  const auto refusing = one.with({.wait = false});
  const auto refused = co_await error_of(refusing.session());
  CHECK(refused == "overloaded: mortals: no replica is ready");
}

task<> restarts_on_throw(system& sys) {
  auto options = mortals();
  options.on_throw = on_throw::restart;
  auto one = co_await sys.serve<mortal>(options);
  co_await one.route<&mortal::add>(5);
  const auto failed = co_await one.try_route<&mortal::fail>();
  CHECK(kind_of(failed) == error_kind::role_error);  // The caller still hears what was thrown.
  const int total = co_await one.route<&mortal::add>(1);
  CHECK(total == 1);
}

task<> backs_off(system& sys) {
  auto options = mortals();
  options.backoff = 100ms;
  options.backoff_limit = 400ms;
  auto one = co_await sys.serve<mortal>(options);
  std::vector<duration> pauses;
  for (int i = 0; i < 6; ++i) {
    co_await one.try_route<&mortal::die>();
    const auto start = detail::strand::current().now();
    co_await one.route<&mortal::add>(1);
    pauses.push_back(detail::strand::current().now() - start);
  }
  CHECK(pauses[0] == 0ms);
  CHECK(pauses[1] >= 75ms);
  CHECK(pauses[1] <= 125ms);
  CHECK(pauses[2] >= 150ms);
  CHECK(pauses[5] >= 300ms);
  CHECK(pauses[5] <= 500ms);
}

task<> gives_up(system& sys) {
  auto options = mortals();
  options.max_restarts = 3;
  auto one = co_await sys.serve<mortal>(options);
  for (int i = 0; i < 3; ++i) {
    CHECK(starts_with(co_await error_of(die_routed(one)), "replica_lost"));
  }
  // The caller of the last hears of the replica's end or of the service's, whichever comes first.
  const auto last = co_await error_of(die_routed(one));
  CHECK((starts_with(last, "replica_lost") || starts_with(last, "service_down")));
  const std::string why =
      "service_down: mortals.mortal::add: more than 3 restarts in 60 s; the last replica died "
      "because: asked to";
  const auto later = co_await error_of(add_routed(one));
  CHECK(later == why);
  const auto opened = co_await error_of(one.session());
  CHECK(starts_with(opened, "service_down"));
  CHECK(metric(sys, "troupe_replica_restarts_total", "mortals") == 3);
  CHECK(metric(sys, "troupe_replicas_ready", "mortals") == 0);
  // Its name is free for another one.
  auto another = co_await sys.serve<mortal>(mortals());
  const int total = co_await another.route<&mortal::add>(2);
  CHECK(total == 2);
}

task<> waiting_callers_hear_of_the_end(system& sys) {
  auto options = mortals();
  options.max_restarts = 0;
  options.max_queued = 1;
  auto one = co_await sys.serve<mortal>(options);
  std::vector<task<std::string>> ends;
  ends.push_back(error_of(die_later_routed(one)));
  for (int i = 0; i < 5; ++i) ends.push_back(error_of(add_routed(one)));
  const auto errors = co_await all(std::move(ends));
  int down = 0;
  for (const auto& e : errors) down += starts_with(e, "service_down");
  CHECK(down >= 4);
}

task<> restarts_far_apart_are_forgiven(system& sys) {
  auto options = mortals();
  options.max_restarts = 2;
  options.restart_window = 1s;
  auto one = co_await sys.serve<mortal>(options);
  for (int i = 0; i < 10; ++i) {
    co_await one.try_route<&mortal::die>();
    co_await one.route<&mortal::add>(1);
    co_await sleep_for(2s);
  }
  CHECK(metric(sys, "troupe_replica_restarts_total", "mortals") == 10);
}

// ---- starting and stopping

struct never_made {
  never_made() { throw std::runtime_error("no such file"); }
  int ask() { return 1; }
};

task<> constructor_throws(system& sys) {
  const auto error = co_await error_of(
      sys.serve<never_made>({.name = "never", .max_restarts = 2, .backoff = 1ms}));
  CHECK(error ==
        "service_down: never: more than 2 restarts in 60 s; the last replica died because: its "
        "role's constructor threw: no such file");
}

task<> constructor_throws_the_same(system& sys) {
  const auto start = detail::strand::current().now();
  for (const std::size_t replicas : {1, 4}) {
    const auto name = "never" + std::to_string(replicas);
    const captured_stderr log;
    log::set_level("warn");
    const auto error =
        co_await error_of(sys.serve<never_made>({.name = name, .replicas = replicas}));
    log::set_level("off");
    CHECK(starts_with(error, "service_down: " + name + ": constructors threw the same error "));
    CHECK_THAT(error, has_text(" times in a row before any replica served; the last replica died "
                               "because: its role's constructor threw: no such file"));
    CHECK_THAT(log.text(), has_text("a replica crashes service=" + name +
                                    " replica=0 reason=\"its role's constructor threw: no such "
                                    "file\""));
  }
  CHECK(detail::strand::current().now() - start < 200ms);
}

/// Made at its sixth try; each before ends by another error.
struct late_made {
  explicit late_made(std::shared_ptr<int> tries) {
    if (++*tries < 6) throw std::runtime_error("busy " + std::to_string(*tries));
  }
  int ask() { return 1; }
};

task<> constructor_throws_others(system& sys) {
  const auto tries = std::make_shared<int>(0);
  auto one = co_await sys.serve<late_made>({.name = "mortals"}, std::shared_ptr<int>(tries));
  const int answer = co_await one.route<&late_made::ask>();
  CHECK(answer == 1);
  CHECK(*tries == 6);
}

/// Throws while the service is told to.
struct refused {
  explicit refused(std::shared_ptr<int> refusals) {
    if (*refusals == 0) return;
    --*refusals;
    throw std::runtime_error("no such file");
  }
  int ask() { return 1; }
  void die() { throw fatal("asked to"); }
};

task<> constructor_throws_later(system& sys) {
  const auto refusals = std::make_shared<int>(0);
  auto one = co_await sys.serve<refused>({.name = "mortals"}, std::shared_ptr<int>(refusals));
  *refusals = 5;
  co_await one.try_route<&refused::die>();
  const int answer = co_await one.route<&refused::ask>();
  CHECK(answer == 1);
  CHECK(*refusals == 0);
}

struct pupil {
  explicit pupil(std::shared_ptr<int> lessons) : lessons(std::move(lessons)) {}
  task<> catch_up() {
    co_await sleep_for(20ms);
    version = ++*lessons;
  }
  int known() { return version; }
  void die() { throw fatal("asked to"); }
  std::shared_ptr<int> lessons;
  int version = 0;
};

task<> catches_up(system& sys) {
  auto pupils = co_await sys.serve<pupil>({.name = "pupils"}, std::make_shared<int>(10));
  const int first = co_await pupils.route<&pupil::known>();
  CHECK(first == 11);
  co_await pupils.try_route<&pupil::die>();
  const int second = co_await pupils.route<&pupil::known>();
  CHECK(second == 12);
}

task<> stops(system& sys) {
  auto two = co_await sys.serve<mortal>(mortals(2));
  std::vector<task<std::string>> ends;
  ends.push_back(error_of(slow_routed(two)));
  ends.push_back(error_of(stop_soon(sys, two)));
  const auto errors = co_await all(std::move(ends));
  CHECK(errors[0] == "service_down: mortals.mortal::slow: it was stopped");
  CHECK(tracked::live == 0);
  const auto later = co_await error_of(add_routed(two));
  CHECK(later == "service_down: mortals.mortal::add: it was stopped");
}

struct counted {
  counted() { ++made; }
  void die() { throw fatal("asked to"); }
  int ask() { return 1; }
  static inline int made = 0;
  tracked here;
};

task<> stops_between_restarts(system& sys) {
  counted::made = 0;
  auto one = co_await sys.serve<counted>({.name = "counted", .backoff = 100ms});
  co_await one.try_route<&counted::die>();
  co_await one.route<&counted::ask>();
  co_await one.try_route<&counted::die>();
  co_await sleep_for(1ms);
  CHECK(tracked::live == 0);  // The second restart is 100 ms away.
  sys.stop(one);
  co_await sleep_for(10s);
  CHECK(counted::made == 2);
}

task<> many_restarts_keep_one_role(system& sys) {
  counted::made = 0;
  auto one = co_await sys.serve<counted>(
      {.name = "counted", .max_restarts = 500, .backoff = 1ms, .backoff_limit = 1ms});
  for (int i = 0; i < 300; ++i) {
    co_await one.try_route<&counted::die>();
    co_await one.route<&counted::ask>();
    if (tracked::live != 1) break;
  }
  CHECK(tracked::live == 1);
  CHECK(counted::made == 301);
}

struct forever {
  task<> catch_up() { co_await sleep_for(duration::max()); }
  int ask() { return 1; }
};

task<> a_cancelled_start_leaves_nothing(system& sys) {
  const auto error = co_await error_of(with_timeout(sys.serve<forever>({.name = "mortals"}), 10ms));
  CHECK(starts_with(error, "deadline_exceeded"));
  auto one = co_await sys.serve<mortal>(mortals());
  const int total = co_await one.route<&mortal::add>(1);
  CHECK(total == 1);
}

task<> same_name_twice(system& sys) {
  auto one = co_await sys.serve<mortal>(mortals());
  const auto error = co_await error_of(sys.serve<mortal>(mortals()));
  CHECK(error == "service \"mortals\": the name is in use");
}

task<> a_thousand_restarts(system& sys) {
  auto options = mortals();
  options.max_restarts = 2000;
  options.backoff = 1ms;
  options.backoff_limit = 1ms;
  auto one = co_await sys.serve<mortal>(options);
  for (int i = 0; i < 1000; ++i) {
    co_await one.try_route<&mortal::die>();
    co_await one.route<&mortal::add>(1);
  }
  CHECK(metric(sys, "troupe_replica_restarts_total", "mortals") == 1000);
  CHECK(metric(sys, "troupe_replicas_ready", "mortals") == 1);
  // What ended replicas had counted is kept, in one place.
  std::istringstream lines(sys.metrics().text());
  int answered = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("troupe_requests_total") == 0 && line.find("mortal::add") != line.npos &&
        line.find("\"ok\"") != line.npos) {
      answered = std::stoi(line.substr(line.rfind(' ')));
    }
  }
  CHECK(answered == 1000);
}

}  // namespace

TEST_CASE("supervision: a death ends exactly the calls in flight there as replica_lost") {
  testing::play(loses_those_in_flight);
}
TEST_CASE("supervision: idempotent calls are retried elsewhere") {
  testing::play(retries_the_idempotent);
}
TEST_CASE(
    "supervision: an idempotent call is retried max_retries times, later each time, and then "
    "lost") {
  testing::play(retries_have_an_end);
}
TEST_CASE("supervision: a call that kills two replicas is refused as poison") {
  testing::play(refuses_poison);
}
TEST_CASE("supervision: the log has a poisoned call's numbers, and of its texts the sizes alone") {
  testing::play(logs_no_text_of_poison);
}
TEST_CASE("supervision: a call that only waited where replicas died is no poison") {
  testing::play(poison_is_only_who_ran);
}
TEST_CASE("supervision: fatal in a batch loses that batch's calls") {
  testing::play(batches_die_together);
}
TEST_CASE("supervision: a session is told that its replica died, and never moved") {
  testing::play(tells_sessions);
}
TEST_CASE("supervision: a restarted replica begins anew, and callers wait for it") {
  testing::play(restarts_with_fresh_state);
}
TEST_CASE("supervision: fanout and session wait for a restart as route does") {
  testing::play(fanout_waits_for_a_restart);
}
TEST_CASE("supervision: on_throw = restart tells the caller and restarts the replica") {
  testing::play(restarts_on_throw);
}
TEST_CASE("supervision: the first restart is immediate, later ones wait twice as long each") {
  testing::play(backs_off);
}
TEST_CASE("supervision: more than max_restarts end the service for later callers") {
  testing::play(gives_up);
}
TEST_CASE("supervision: more than max_restarts end the service for waiting callers") {
  testing::play(waiting_callers_hear_of_the_end);
}
TEST_CASE("supervision: restarts outside the window are forgiven") {
  testing::play(restarts_far_apart_are_forgiven);
}
TEST_CASE("supervision: a constructor that always throws ends as service_down") {
  testing::play(constructor_throws);
}
TEST_CASE("supervision: constructors that throw the same error are given up at the third") {
  testing::play(constructor_throws_the_same);
}
TEST_CASE("supervision: constructors that throw one error after another are tried again") {
  testing::play(constructor_throws_others);
}
TEST_CASE("supervision: a constructor that throws once its service has served is tried again") {
  testing::play(constructor_throws_later);
}
TEST_CASE("supervision: a replica catches up before it serves, also after a restart") {
  testing::play(catches_up);
}
TEST_CASE("supervision: stopping a service ends its calls as service_down") {
  testing::play(stops);
}
TEST_CASE("supervision: a service stopped between two restarts stays stopped") {
  testing::play(stops_between_restarts);
}
TEST_CASE("supervision: dead replicas leave no role behind") {
  testing::play(many_restarts_keep_one_role);
}
TEST_CASE("supervision: a start that is cancelled leaves no service behind") {
  testing::play(a_cancelled_start_leaves_nothing);
}
TEST_CASE("supervision: a name in use is refused") { testing::play(same_name_twice); }
TEST_CASE("supervision: a thousand restarts keep every count") {
  testing::play(a_thousand_restarts);
}

}  // namespace troupe
