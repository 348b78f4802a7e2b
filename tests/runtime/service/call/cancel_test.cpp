#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

struct worker {
  task<int> work(duration pause) {
    tracked here;
    co_await sleep_for(pause);
    ++finished;
    co_return finished;
  }
  task<int> work_to_end(duration pause) {
    const int n = co_await work(pause);
    co_return n;
  }
  task<int> pass_on(service<worker> next, duration pause) {
    tracked here;
    const int n = co_await next.route<&worker::work>(pause);
    co_return n;
  }
  void die() { throw fatal("asked to"); }
  int finished_so_far() { return finished; }
  int finished = 0;
};

serve_options one(const char* name) { return {.name = name, .max_queued = 2, .max_ongoing = 1}; }

task<> work_routed(service<worker> at, duration pause) { co_await at.route<&worker::work>(pause); }
task<> work_to_end_routed(service<worker> at, duration pause) {
  co_await at.route<&worker::work_to_end>(pause);
}
task<> pass_on_routed(service<worker> at, service<worker> next) {
  co_await at.route<&worker::pass_on>(next, duration(1h));
}
task<> die_soon(service<worker> at) {
  co_await sleep_for(10ms);
  co_await at.try_route<&worker::die>();
}

task<> reaches_who_waits(system& sys) {
  auto workers = co_await sys.serve<worker>(one("workers"));
  const auto late = co_await error_of(work_routed(workers.with({.deadline = 50ms}), 1h));
  CHECK(starts_with(late, "deadline_exceeded"));
  co_await sleep_for(1ms);
  CHECK(tracked::live == 0);
  CHECK(metric(sys, "troupe_requests_in_flight", "workers") == 0);
  co_await error_of(with_timeout(work_routed(workers, 1h), 50ms));
  co_await sleep_for(1ms);
  CHECK(tracked::live == 0);
  const int finished = co_await workers.route<&worker::work>(duration(1ms));  // There is room.
  CHECK(finished == 1);
}

task<> reaches_who_is_held_back(system& sys) {
  auto workers = co_await sys.serve<worker>(one("workers"));
  std::vector<task<std::string>> calls;
  calls.push_back(error_of(work_routed(workers, 100ms)));
  calls.push_back(error_of(work_routed(workers.with({.deadline = 50ms}), 100ms)));
  const auto looks = [](system* sys) -> task<std::string> {
    co_await sleep_for(60ms);
    CHECK(metric(*sys, "troupe_requests_in_flight", "workers") == 1);  // Its place is free already.
    co_return "none";
  };
  calls.push_back(looks(&sys));
  const auto ends = co_await all(std::move(calls));
  CHECK(ends[0] == "none");
  CHECK(starts_with(ends[1], "deadline_exceeded"));
  const int finished = co_await workers.route<&worker::finished_so_far>();
  CHECK(finished == 1);
}

task<> is_passed_on(system& sys) {
  auto far = co_await sys.serve<worker>(one("far"));
  auto near = co_await sys.serve<worker>(one("workers"));
  co_await error_of(with_timeout(pass_on_routed(near, far), 50ms));
  co_await sleep_for(1ms);
  CHECK(tracked::live == 0);  // Neither there nor behind it.
  CHECK(metric(sys, "troupe_requests_failed_total", "far", R"(reason="cancelled",)") == 1);
}

task<> a_death_cancels_what_it_asked_for(system& sys) {
  auto far = co_await sys.serve<worker>(one("far"));
  auto near = co_await sys.serve<worker>(one("workers"));
  std::vector<task<std::string>> calls;
  calls.push_back(error_of(pass_on_routed(near, far)));
  calls.push_back(error_of(die_soon(near)));
  const auto ends = co_await all(std::move(calls));
  CHECK(starts_with(ends[0], "replica_lost"));
  co_await sleep_for(1ms);
  CHECK(tracked::live == 0);
}

task<> some_run_to_their_end(system& sys) {
  auto options = one("workers");
  options.run_to_end = {endpoint<&worker::work_to_end>};
  auto workers = co_await sys.serve<worker>(options);
  const auto late = co_await error_of(work_to_end_routed(workers.with({.deadline = 20ms}), 50ms));
  CHECK(starts_with(late, "deadline_exceeded"));
  co_await sleep_for(100ms);
  const int finished = co_await workers.route<&worker::finished_so_far>();
  CHECK(finished == 1);
}

}  // namespace

TEST_CASE("cancel: a coroutine that waits in a replica ends with its caller's patience") {
  testing::play(reaches_who_waits);
}
TEST_CASE("cancel: a call that is held back gives its place back") {
  testing::play(reaches_who_is_held_back);
}
TEST_CASE("cancel: what a cancelled call has called itself is cancelled, too") {
  testing::play(is_passed_on);
}
TEST_CASE("cancel: a replica's death cancels what it has asked of others") {
  testing::play(a_death_cancels_what_it_asked_for);
}
TEST_CASE("cancel: endpoints declared so run to their end all the same") {
  testing::play(some_run_to_their_end);
}

}  // namespace troupe
