#include <latch>

#include "tests/runtime/metrics/series.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Counts itself while it lives, also in a call that is cancelled.
class place {
 public:
  explicit place(int& count) : count_(++count) {}
  place(const place&) = delete;
  ~place() { --count_; }

 private:
  int& count_;
};

/// Takes 10 ms a call and knows how many calls it holds at once.
struct desk {
  task<int> serve(int n) {
    const place here(held);
    most = std::max(most, held);
    co_await sleep_for(10ms);
    ++served;
    co_return n;
  }
  task<> block(duration pause) { co_await sleep_for(pause); }
  void wait_at(std::shared_ptr<std::latch> gate) { gate->wait(); }
  int quick(int n) { return n + ++quick_calls; }
  void note(int n) { notes.push_back(n); }
  int most_held() { return most; }
  int served_so_far() { return served; }
  std::vector<int> noted() { return notes; }

  int held = 0, most = 0, served = 0, quick_calls = 0;
  std::vector<int> notes;
};

task<outcome<int>> served(service<desk> desks, int n) {
  auto result = co_await desks.try_route<&desk::serve>(n);
  co_return result;
}

task<std::vector<outcome<int>>> crowd(service<desk> desks, int n) {
  std::vector<task<outcome<int>>> calls;
  for (int i = 0; i < n; ++i) calls.push_back(served(desks, i));
  auto results = co_await all(std::move(calls));
  co_return results;
}

int count(const std::vector<outcome<int>>& results, error_kind kind) {
  int n = 0;
  for (const auto& r : results) n += !r.ok() && kind_of(r) == kind;
  return n;
}

// ---- bounds

task<> everybody_is_served(system& sys) {
  auto desks = co_await sys.serve<desk>({.name = "desks", .replicas = 2, .max_queued = 3});
  const auto results = co_await crowd(desks, 60);
  for (int i = 0; i < 60; ++i) CHECK(results[static_cast<std::size_t>(i)].value() == i);
  const auto most = co_await desks.fanout<&desk::most_held>();
  CHECK(most == std::vector<int>{3, 3});
}

task<> in_order_of_coming(system& sys) {
  auto desks = co_await sys.serve<desk>({.name = "desks", .max_queued = 1});
  std::vector<task<outcome<int>>> calls;
  const auto start = detail::strand::current().now();
  const auto results = co_await crowd(desks, 20);
  CHECK(results[19].ok());
  CHECK(detail::strand::current().now() - start >= 200ms);  // One at a time.
  const auto most = co_await desks.route<&desk::most_held>();
  CHECK(most == 1);
}

task<> refuses_at_once(system& sys) {
  auto desks = co_await sys.serve<desk>({.name = "desks", .max_queued = 4});
  const auto results = co_await crowd(desks.with({.wait = false}), 10);
  CHECK(count(results, error_kind::overloaded) == 6);
  CHECK(describe(results[9].error()) ==
        "overloaded: desks.desk::serve: every queue is full (max_queued 4 a replica)");
}

task<> the_line_is_bounded(system& sys) {
  auto desks = co_await sys.serve<desk>({.name = "desks", .max_queued = 2, .max_waiting = 3});
  const auto results = co_await crowd(desks, 10);
  CHECK(count(results, error_kind::overloaded) == 5);
  CHECK(describe(results[9].error()) ==
        "overloaded: desks.desk::serve: 3 callers wait already (max_waiting)");
}

task<> occupy(service<desk> desks, duration pause) { co_await desks.route<&desk::block>(pause); }

task<> control_passes(group& g, service<desk> desks) {
  for (int i = 0; i < 2; ++i) g.start(occupy(desks, 1h));
  co_await sleep_for(1ms);
  const auto work = desks.with({.deadline = 50ms});
  const auto refused = co_await work.try_route<&desk::quick>(1);
  CHECK(kind_of(refused) == error_kind::deadline_exceeded);
  const auto control = desks.with({.deadline = 50ms, .priority = priority::control});
  const auto passed = co_await control.try_route<&desk::quick>(1);
  CHECK(passed.ok());
}

task<> control_does_not_queue(system& sys) {
  auto desks = co_await sys.serve<desk>({.name = "desks", .max_queued = 2});
  co_await with_group([&](group& g) { return control_passes(g, desks); });
}

// Sessions and free callers wait in one line: room at one replica must find who can use it.
task<> several_by_session(session<desk> mine, int n) {
  for (int i = 0; i < n; ++i) co_await mine.route<&desk::serve>(i);
}
task<> several_anywhere(service<desk> desks, int n) {
  for (int i = 0; i < n; ++i) co_await desks.route<&desk::serve>(i);
}
task<> impatient(service<desk> desks, int n) {
  for (int i = 0; i < n; ++i) {
    const auto quick = desks.with({.deadline = 15ms});
    co_await quick.try_route<&desk::serve>(i);
  }
}

task<> mixed_lines(system& sys) {
  auto desks = co_await sys.serve<desk>({.name = "desks", .replicas = 3, .max_queued = 1});
  std::vector<task<>> all_of_them;
  for (int i = 0; i < 6; ++i) {
    auto mine = co_await desks.session();
    all_of_them.push_back(several_by_session(mine, 10));
    all_of_them.push_back(several_anywhere(desks, 10));
    all_of_them.push_back(impatient(desks, 10));
  }
  co_await all(std::move(all_of_them));
  const auto most = co_await desks.fanout<&desk::most_held>();
  CHECK(most == std::vector<int>{1, 1, 1});
}

// ---- deadlines and cancelling

task<> drops_before_the_start(system& sys) {
  auto desks = co_await sys.serve<desk>({.name = "desks", .max_ongoing = 1});
  const auto results = co_await crowd(desks.with({.deadline = 25ms}), 10);
  CHECK(results[0].ok());
  CHECK(count(results, error_kind::deadline_exceeded) >= 7);
  CHECK(describe(results[9].error()) ==
        "deadline_exceeded: desks.desk::serve: no answer within 25 ms");
  co_await sleep_for(1s);
  const int started = co_await desks.route<&desk::served_so_far>();
  CHECK(started <= 3);  // The others were dropped before they started.
  const auto next = co_await desks.route<&desk::quick>(1);
  CHECK(next == 2);
}

task<> be_stuck(service<desk> desks, std::shared_ptr<std::latch> gate) {
  co_await desks.route<&desk::wait_at>(gate);
}

/// The replica's thread is stuck until every deadline has passed; then it finds all of the calls in
/// its mailbox.
task<> late_in_the_mailbox(group& g, service<desk> desks) {
  const auto gate = std::make_shared<std::latch>(1);
  g.start(be_stuck(desks, gate));
  co_await desks.route<&desk::quick>(0);  // Meanwhile the other is sent.
  const auto hurried = desks.with({.deadline = 5ms});
  std::vector<error_kind> ends;
  for (int i = 0; i < 5; ++i) {
    const auto late = co_await hurried.try_route<&desk::note>(i);
    ends.push_back(kind_of(late));
  }
  gate->count_down();
  co_await g.join();
  CHECK(ends == std::vector(5, error_kind::deadline_exceeded));
  const auto noted = co_await desks.route<&desk::noted>();
  CHECK(noted.empty());
}

task<> drops_what_lies_in_the_mailbox(system& sys) {
  auto desks = co_await sys.serve<desk>({.name = "desks", .placement = placement::thread});
  co_await with_group([&](group& g) { return late_in_the_mailbox(g, desks); });
}

task<> services_have_deadlines(system& sys) {
  auto desks = co_await sys.serve<desk>({.name = "desks", .deadline = 30ms});
  const auto start = detail::strand::current().now();
  const auto late = co_await error_of(occupy(desks, 1h));
  CHECK(starts_with(late, "deadline_exceeded"));
  CHECK(detail::strand::current().now() - start >= 30ms);
  CHECK(detail::strand::current().now() - start <= 41ms);
  const auto longer = desks.with({.deadline = 200ms});
  const auto in_time = co_await error_of(occupy(longer, 100ms));
  CHECK(in_time == "none");
}

// An outcome is kept long after its call has ended; the answer that comes later finds nobody.
task<> late_answers(system& sys) {
  auto desks = co_await sys.serve<desk>({.name = "desks"});
  const auto results = co_await crowd(desks.with({.deadline = 5ms}), 5);
  CHECK(count(results, error_kind::deadline_exceeded) == 5);
  std::vector<task<outcome<int>>> calls;
  calls.push_back(served(desks.with({.deadline = 5ms}), 1));
  calls.push_back(served(desks, 2));
  const auto both = co_await all(std::move(calls));
  CHECK(kind_of(both[0]) == error_kind::deadline_exceeded);
  CHECK(both[1].value() == 2);
}

struct recorder {
  task<> wait(duration pause) { co_await sleep_for(pause); }
  batch<int> gather(batch<int> items) {
    for (const int n : items) seen.push_back(n);
    return items;
  }
  std::vector<int> all_seen() { return seen; }
  std::vector<int> seen;
};

task<> gather(service<recorder> to, int n) { co_await to.route<&recorder::gather>(n); }

task<> cancels_within_a_batch(group& g, service<recorder> to) {
  g.start(gather(to, 1));
  const auto gone = co_await error_of(with_timeout(gather(to, 2), 5ms));
  CHECK(starts_with(gone, "deadline_exceeded"));
  co_await g.join();
}

task<> a_cancelled_item_is_left_out(system& sys) {
  auto to = co_await sys.serve<recorder>({.name = "recorders", .max_delay = 20ms});
  co_await with_group([&](group& g) { return cancels_within_a_batch(g, to); });
  const auto seen = co_await to.route<&recorder::all_seen>();
  CHECK(seen == std::vector<int>{1});
}

task<> cancelled_while_waiting(system& sys) {
  auto desks = co_await sys.serve<desk>({.name = "desks", .max_queued = 1});
  for (int i = 0; i < 5; ++i) {
    const auto gone = co_await error_of(with_timeout(crowd(desks, 10), 15ms));
    CHECK(starts_with(gone, "deadline_exceeded"));
  }
  const auto results = co_await crowd(desks, 5);
  for (const auto& r : results) CHECK(r.ok());
  const auto most = co_await desks.route<&desk::most_held>();
  CHECK(most == 1);
}

// ---- stalls

task<> stalls_are_counted(system& sys) {
  auto desks = co_await sys.serve<desk>({.name = "desks"});
  co_await occupy(desks, 29s);
  CHECK(metric(sys, "troupe_requests_stalled_total", "desks") == 0);
  co_await occupy(desks, 31s);
  CHECK(metric(sys, "troupe_requests_stalled_total", "desks") == 1);
  co_await occupy(desks.with({.deadline = 100s}), 31s);
  CHECK(metric(sys, "troupe_requests_stalled_total", "desks") == 1);
}

task<> failures_are_counted(system& sys) {
  auto desks = co_await sys.serve<desk>({.name = "desks", .max_queued = 2});
  co_await crowd(desks.with({.wait = false}), 5);
  co_await crowd(desks.with({.deadline = 5ms}), 2);
  co_await sleep_for(50ms);
  co_await error_of(with_timeout(crowd(desks, 2), 5ms));
  const auto failed = [&](const std::string& reason) {
    return metric(sys, "troupe_requests_failed_total", "desks", "reason=\"" + reason + "\",");
  };
  CHECK(failed("overloaded") == 3);
  CHECK(failed("deadline") == 2);
  CHECK(failed("cancelled") == 2);
  co_await sleep_for(50ms);
  CHECK(metric(sys, "troupe_requests_in_flight", "desks") == 0);
  CHECK(metric(sys, "troupe_callers_waiting", "desks") == 0);
}

}  // namespace

TEST_CASE("bounds: callers wait for room, all are served, and none holds more than max_queued") {
  testing::play(everybody_is_served);
}
TEST_CASE("bounds: a queue of one serves one at a time") { testing::play(in_order_of_coming); }
TEST_CASE("bounds: who does not want to wait is refused as overloaded") {
  testing::play(refuses_at_once);
}
TEST_CASE("bounds: more than max_waiting callers are refused as overloaded") {
  testing::play(the_line_is_bounded);
}
TEST_CASE("bounds: control calls do not queue behind work") {
  testing::play(control_does_not_queue);
}
TEST_CASE("bounds: sessions, free and impatient callers in one line are all served") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) testing::play(mixed_lines, seed);
}
TEST_CASE("deadline: a call that is too late is dropped before it starts") {
  testing::play(drops_before_the_start);
}
TEST_CASE("deadline: a plain call that is too late when the replica comes to it is not executed") {
  testing::log_off();
  system sys({.threads = 2});
  sys.run(drops_what_lies_in_the_mailbox(sys));
}
TEST_CASE("deadline: a service's own holds unless the caller says otherwise") {
  testing::play(services_have_deadlines);
}
TEST_CASE("deadline: an answer that comes after it finds nobody") { testing::play(late_answers); }
TEST_CASE("cancel: a cancelled item is left out of its batch") {
  testing::play(a_cancelled_item_is_left_out);
}
TEST_CASE("cancel: callers that stop waiting take no room and lose none") {
  testing::play(cancelled_while_waiting);
}
TEST_CASE("metrics: a call without a deadline is counted as stalled after 30 s") {
  testing::play(stalls_are_counted);
}
TEST_CASE("metrics: calls without an answer are counted by reason") {
  testing::play(failures_are_counted);
}

}  // namespace troupe
