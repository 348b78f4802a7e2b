// Replicas in processes that live and say nothing.

#include <signal.h>
#include <unistd.h>

#include "runtime/coroutine/sleep.hpp"
#include "tests/runtime/remote/everywhere.hpp"

namespace troupe {
namespace {

using namespace testing;

class sleeper {
 public:
  std::int64_t pid() const { return getpid(); }
  /// Gets stuck once nobody awaits anything.
  task<> get_stuck_later() {
    co_await sleep_for(50ms);
    detail::strand::current().calls()->me()->post([] { std::this_thread::sleep_for(1h); });
  }
  /// Blocks, and comes back.
  int work(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return milliseconds;
  }
};

serve_options one(duration max_call_time = no_limit, std::string name = "sleeper") {
  return {.name = std::move(name),
          .placement = placement::process,
          .idempotent = {endpoint<&sleeper::pid>},
          .max_call_time = max_call_time};
}

task<> until_gone(std::int64_t pid) {
  while (kill(static_cast<pid_t>(pid), 0) == 0) co_await sleep_for(10ms);
}

task<> freeze(system& sys) {
  auto to = co_await sys.serve<sleeper>(one(1s));
  const auto frozen = co_await to.route<&sleeper::pid>();
  kill(static_cast<pid_t>(frozen), SIGSTOP);
  co_await until_gone(frozen);  // Nobody calls it.
  const auto other = co_await to.route<&sleeper::pid>();
  CHECK(other != frozen);
}

task<> stick(system& sys) {
  auto to = co_await sys.serve<sleeper>(one(1s));
  const auto stuck = co_await to.route<&sleeper::pid>();
  co_await to.route<&sleeper::get_stuck_later>();
  co_await until_gone(stuck);
  const auto other = co_await to.route<&sleeper::pid>();
  CHECK(other != stuck);
}

/// Longer than a silent one may be.
task<> be_busy(system& sys) {
  auto to = co_await sys.serve<sleeper>(one());
  const auto before = co_await to.route<&sleeper::pid>();
  const int slept = co_await to.route<&sleeper::work>(11'000);
  CHECK(slept == 11'000);
  const auto after = co_await to.route<&sleeper::pid>();
  CHECK(before == after);
}

/// Longer than a silent one may be, for a caller that has given up.
task<> work_on(system& sys) {
  auto to = co_await sys.serve<sleeper>(one(no_limit, "worker"));
  const auto before = co_await to.route<&sleeper::pid>();
  const auto given_up = co_await to.with({.deadline = 100ms}).try_route<&sleeper::work>(11'000);
  CHECK(is_kind(given_up.error(), error_kind::deadline_exceeded));
  co_await sleep_for(11s);
  const auto after = co_await to.route<&sleeper::pid>();
  CHECK(before == after);
}

}  // namespace

TEST_CASE("silence: a process that is frozen costs one replica, and is ended") {
  troupe::system sys;
  sys.run(with_timeout(freeze(sys), 60s));
}
TEST_CASE("silence: a replica that is stuck without a call is given up") {
  troupe::system sys;
  sys.run(with_timeout(stick(sys), 60s));
}
TEST_CASE(
    "silence: a replica that is busy with a call is not, nor one that works on for a caller that "
    "has given up") {
  troupe::system sys;
  sys.run(with_timeout(all(be_busy(sys), work_on(sys)), 60s));
}

}  // namespace troupe
