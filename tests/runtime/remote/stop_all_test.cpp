// A system that stops all services to serve them anew: processes keep their places, roles don't.

#include <signal.h>
#include <unistd.h>

#include <thread>

#include "runtime/coroutine/sleep.hpp"
#include "runtime/service/successor.hpp"
#include "tests/runtime/remote/everywhere.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Counts calls, and the roles that were in its place.
class tenant {
 public:
  tenant(const replica_info& info, int from) : info_(info), total_(from) {
    const auto kept = std::static_pointer_cast<int>(take_from_predecessor("predecessors"));
    if (kept) predecessors_ = *kept;
  }
  ~tenant() {
    if (has_successor()) {
      keep_for_successor("predecessors", std::make_shared<int>(predecessors_ + 1));
    }
  }
  tenant(const tenant&) = delete;

  int add(int n) { return total_ += n; }
  int predecessors() const { return predecessors_; }
  std::size_t generation() const { return info_.generation; }
  std::int64_t pid() { return getpid(); }
  void die() { throw fatal("told to"); }
  void spin() {
    for (;;) std::this_thread::sleep_for(1ms);
  }

 private:
  const replica_info info_;
  int total_;
  int predecessors_ = 0;
};

/// Calls a service, which its constructor was given.
class client {
 public:
  explicit client(service<tenant> to) : to_(std::move(to)) {}
  task<int> ask(int n) {
    const auto sum = co_await to_.route<&tenant::add>(n);
    co_return sum;
  }

 private:
  service<tenant> to_;
};

task<service<tenant>> tenants(system& sys, std::size_t replicas, int from) {
  return sys.serve<tenant>({.name = "tenants",
                            .replicas = replicas,
                            .placement = elsewhere(sys),
                            .idempotent = {endpoint<&tenant::pid>}},
                           from);
}

task<> serve_again_and_again(system& sys) {
  std::vector<std::int64_t> pids;
  for (int round = 0; round < 5; ++round) {
    const auto to = co_await tenants(sys, 2, 10 * round);
    const auto by = co_await sys.serve<client>(
        {.name = "clients", .replicas = 2, .placement = elsewhere(sys)}, to);
    const auto sums = co_await to.fanout<&tenant::add>(1);
    CHECK(sums == std::vector<int>{10 * round + 1, 10 * round + 1});
    const auto asked = co_await by.fanout<&client::ask>(0);
    CHECK(asked == sums);
    const auto before = co_await to.fanout<&tenant::predecessors>();
    CHECK(before == std::vector<int>{round, round});
    const auto generations = co_await to.fanout<&tenant::generation>();
    CHECK(generations == std::vector<std::size_t>{0, 0});
    const auto now = co_await to.fanout<&tenant::pid>();
    if (!pids.empty()) CHECK(now == pids);
    pids = now;
    co_await sys.stop_all();
    const auto late = co_await to.try_route<&tenant::add>(1);
    CHECK(is_kind(late.error(), error_kind::service_down));
  }
}

TEST_CASE("stop_all: the same processes run the next replicas, whose state is new") {
  run_everywhere(serve_again_and_again);
}

/// The handle that the roles get is one of a service that has only just got the name of another.
task<> calls_reach_the_later_service(system& sys) {
  for (int round = 0; round < 40; ++round) {
    const auto to = co_await sys.serve<tenant>({.name = "tenants"}, round);
    const auto by =
        co_await sys.serve<client>({.name = "clients", .placement = elsewhere(sys)}, to);
    const auto asked = co_await by.route<&client::ask>(0);
    REQUIRE(asked == round);
    co_await sys.stop_all();
  }
}

TEST_CASE("stop_all: a handle means the later one of two services of a name") {
  run_everywhere(calls_reach_the_later_service);
}

class listener {
 public:
  task<int> ask(service<tenant> whom) {
    const auto sum = co_await whom.route<&tenant::add>(0);
    co_return sum;
  }
};

/// As above, but the role that gets the handles stays.
task<> a_role_hears_of_the_later_service(system& sys) {
  const auto by = co_await sys.serve<listener>({.name = "listener", .placement = elsewhere(sys)});
  for (int round = 0; round < 40; ++round) {
    const auto to = co_await sys.serve<tenant>({.name = "tenants"}, round);
    const auto asked = co_await by.route<&listener::ask>(to);
    REQUIRE(asked == round);
    sys.stop(to);
  }
}

TEST_CASE("a role in another process calls the later one of two services of a name") {
  run_everywhere(a_role_hears_of_the_later_service);
}

task<> a_dead_one_is_not_kept(system& sys) {
  const auto first = co_await tenants(sys, 2, 0);
  const auto before = co_await first.fanout<&tenant::pid>();
  ::kill(static_cast<pid_t>(before[1]), SIGKILL);
  co_await sys.stop_all();
  const auto second = co_await tenants(sys, 2, 7);
  const auto now = co_await second.fanout<&tenant::pid>();
  CHECK(now[0] == before[0]);
  CHECK(now[1] != before[1]);
  const auto sums = co_await second.fanout<&tenant::add>(0);
  CHECK(sums == std::vector<int>{7, 7});
}

TEST_CASE("stop_all: a process that was killed is replaced") {
  troupe::system sys;
  sys.run(with_timeout(a_dead_one_is_not_kept(sys), 30s));
}

task<> a_stuck_one_is_not_kept(system& sys) {
  const auto first = co_await tenants(sys, 1, 0);
  const auto before = co_await first.route<&tenant::pid>();
  const auto stuck = co_await first.with({.deadline = 100ms}).try_route<&tenant::spin>();
  CHECK(is_kind(stuck.error(), error_kind::deadline_exceeded));
  co_await sys.stop_all();
  const auto second = co_await tenants(sys, 1, 7);
  const auto now = co_await second.route<&tenant::pid>();
  CHECK(now != before);
  const auto sum = co_await second.route<&tenant::add>(0);
  CHECK(sum == 7);
}

TEST_CASE("stop_all: a process whose role is stuck is given up after stop_limit") {
  troupe::system sys({.stop_limit = 500ms});
  sys.run(with_timeout(a_stuck_one_is_not_kept(sys), 30s));
}

task<> nothing_is_left(system& sys) {
  const auto before = sys.actors();
  co_await tenants(sys, 3, 0);
  co_await sys.serve<tenant>({.name = "others", .replicas = 3}, 0);
  co_await sys.stop_all();
  // A place that stays has an actor for its link. Supervisors end a moment after they have told.
  for (int i = 0; i < 5000 && sys.actors() > before + 3; ++i) co_await sleep_for(1ms);
  CHECK(sys.actors() <= before + 3);
  const auto again = co_await tenants(sys, 1, 0);
  const auto sum = co_await again.route<&tenant::add>(2);
  CHECK(sum == 2);
}

TEST_CASE("stop_all: every actor has ended when it returns") { run_everywhere(nothing_is_left); }

}  // namespace
}  // namespace troupe
