// Replicas in processes that execute another program.

#include <signal.h>

#include "runtime/base/build_stamp.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "tests/paths.hpp"
#include "tests/runtime/support.hpp"
#include "tests/runtime/system/other_program/guest.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using Catch::Matchers::Contains;

std::string program(const std::string& name) {
  return testing::build_path("tests/runtime/system/other_program/" + name);
}

task<service<guest>> guests(system& sys, std::string program,
                            std::optional<std::size_t> max_restarts = {}) {
  return sys.serve<guest>({.name = "guests",
                           .replicas = 2,
                           .placement = placement::process,
                           .program = std::move(program),
                           .max_restarts = max_restarts,
                           .idempotent = {endpoint<&guest::pid>, endpoint<&guest::program>}},
                          10, guest::function(times{3}));
}

/// In a system of its own. This program's main runs tests, so it could not host a replica itself.
void play_beside(task<> (*main)(system&)) {
  log_off();
  system sys;
  sys.run(with_timeout(main(sys), 60s));
}

task<> call_all(system& sys) {
  const auto to = co_await guests(sys, program("guest_host"));
  const auto programs = co_await to.fanout<&guest::program>();
  CHECK(programs == std::vector<std::string>(2, "guest_host"));
  const auto sums = co_await to.fanout<&guest::add>(2);
  CHECK(sums == std::vector<int>{16, 16});
  const std::vector<double> odd{-0.0, 1e300};
  const auto mirrored = co_await to.route<&guest::mirror>(odd);
  CHECK(mirrored == odd);
  const auto pids = co_await to.fanout<&guest::pid>();
  CHECK(pids[0] != pids[1]);
}

TEST_CASE("another program: hosts replicas, and takes their calls and functions") {
  play_beside(call_all);
}

task<> kill_one(system& sys) {
  const auto to = co_await guests(sys, program("guest_host"));
  auto mine = co_await to.session();
  const auto pid = co_await mine.route<&guest::pid>();
  ::kill(static_cast<pid_t>(pid), SIGKILL);
  const auto lost = co_await mine.try_route<&guest::add>(1);
  CHECK_FALSE(lost.ok());
  std::vector<std::int64_t> pids;
  for (pids = {pid}; std::ranges::count(pids, pid) > 0 || pids.size() < 2;) {
    co_await sleep_for(1ms);
    pids = co_await to.fanout<&guest::pid>();
  }
  const auto sums = co_await to.fanout<&guest::add>(0);
  CHECK(sums == std::vector<int>{10, 10});
}

TEST_CASE("another program: a process of it that is killed is replaced") { play_beside(kill_one); }

task<> call_forgotten(system& sys) {
  const auto to = co_await guests(sys, program("guest_host"));
  const auto refused = co_await to.try_route<&guest::forgotten>();
  CHECK_THAT(describe(refused.error()),
             Contains("a call of an endpoint that this program doesn't have"));
  const auto after = co_await to.fanout<&guest::add>(0);
  CHECK(after.size() == 2);
}

TEST_CASE("another program: a call that it doesn't have is refused, and it serves on") {
  play_beside(call_forgotten);
}

/// The error of a service of a guest that the program can't make.
template <class From>
task<std::string> refusal_of(system& sys, From from, guest::function change) {
  serve_options options{.name = "guests",
                        .placement = placement::process,
                        .program = program("guest_host"),
                        .max_restarts = 0};
  co_return co_await error_of(sys.serve<guest>(options, from, change));
}

task<> ask_for_unknown(system& sys) {
  const guest::function known = times{3};
  const guest::function unknown = [](int n) { return 2 * n; };
  const auto role = co_await refusal_of(sys, 10L, known);
  CHECK_THAT(role, Contains("this program doesn't have the role troupe::testing::guest, or not "
                            "with such constructor arguments"));
  const auto function = co_await refusal_of(sys, 10, unknown);
  CHECK_THAT(function, Contains("no such function"));
}

TEST_CASE("another program: a role or a function that it doesn't have is told") {
  play_beside(ask_for_unknown);
}

task<> ask_another_build(system& sys) {
  const auto why = co_await error_of(guests(sys, program("old_guest_host"), 0));
  CHECK_THAT(why, Contains("expected a program of build " + detail::build_stamp() + " of Troupe"));
  CHECK_THAT(why, Contains("got one of build 0.0.9-0123456789abcdef"));
}

TEST_CASE("another program: one of another build is refused, and both builds are told") {
  play_beside(ask_another_build);
}

task<> ask_no_program(system& sys) {
  const auto missing = co_await error_of(guests(sys, "/nowhere/host"));
  CHECK(missing ==
        "service \"guests\": program: expected the path of a program, got "
        "\"/nowhere/host\": No such file or directory");
  const auto other = co_await error_of(guests(sys, "/bin/true", 0));
  CHECK_THAT(other, Contains("ended with exit code 0"));
}

TEST_CASE("another program: one that isn't there or isn't Troupe's is told") {
  play_beside(ask_no_program);
}

struct nameless {
  int one() { return 1; }
};

task<> ask_for_nameless(system& sys) {
  const auto why = co_await error_of(sys.serve<nameless>(
      {.name = "nameless", .placement = placement::process, .program = program("guest_host")}));
  CHECK_THAT(why,
             Contains("service \"nameless\": program: expected a role whose types have names"));
}

TEST_CASE("another program: a role in an anonymous namespace is refused") {
  play_beside(ask_for_nameless);
}

task<> ignore_program(system& sys) {
  const auto to = co_await guests(sys, "/nowhere/host");
  const auto sums = co_await to.fanout<&guest::add>(2);
  CHECK(sums == std::vector<int>{16, 16});
}

TEST_CASE("another program: a deterministic system needs none") { play(ignore_program); }

TEST_CASE("build stamp: is a version and a hash") {
  CHECK_THAT(detail::build_stamp(), Catch::Matchers::Matches("[0-9.]+-[0-9a-f]{16}"));
}

}  // namespace
}  // namespace troupe
