// What a program's main does with signals, each in a process of its own.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "runtime/run.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

task<> for_ever() { co_await sleep_for(duration::max()); }
task<> wait_for_ever(system&) { return for_ever(); }

/// Told to end when `run` watches for signals, and its coroutine has not started.
task<> signalled_before_its_start(system&) {
  raise(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // For the thread that hears of it.
  return for_ever();
}

task<> signalled_twice(system&) {
  raise(SIGTERM);
  raise(SIGTERM);
  for (;;) std::this_thread::sleep_for(1h);
}

/// Runs `main` as a program's in a child process, which SIGALRM ends if nothing else does.
pid_t start(task<> (*main)(system&)) {
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, &before);
  const auto child = fork();
  if (child == 0) signal(SIGTERM, SIG_DFL);  // Not Catch2's handler.
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child != 0) return child;
  std::freopen("/dev/null", "w", stderr);
  alarm(20);
  const char* arguments[] = {"program", "--threads", "2", "--log-level", "off"};
  _exit(run(std::size(arguments), const_cast<char**>(arguments), main));
}

/// "exit 130", "signal 15".
std::string end_of(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return "waitpid failed";
  return WIFEXITED(status) ? "exit " + std::to_string(WEXITSTATUS(status))
                           : "signal " + std::to_string(WTERMSIG(status));
}

}  // namespace

TEST_CASE("run: a signal that comes before the coroutine starts cancels it") {
  CHECK(end_of(start(signalled_before_its_start)) == "exit 130");
}

TEST_CASE("run: a second signal ends a program that does not heed the first") {
  CHECK(end_of(start(signalled_twice)) == "exit 130");
}

TEST_CASE("run: no signal is lost, at whatever moment of the start it comes") {
  int by_signal = 0, cancelled = 0;
  for (int i = 0; i < 60; ++i) {
    const auto child = start(wait_for_ever);
    std::this_thread::sleep_for(i * 100us);
    REQUIRE(kill(child, SIGTERM) == 0);
    const auto end = end_of(child);
    by_signal += end == "signal 15";  // Before `run` watched.
    cancelled += end == "exit 130";
    if (end == "signal 14") break;  // Lost; the others would be, too.
  }
  CHECK(by_signal + cancelled == 60);
  CHECK(cancelled > 0);
}

TEST_CASE("system: what is cancelled before it runs does not start") {
  log_off();
  troupe::system sys({.deterministic = true});
  sys.cancel();
  bool started = false;
  const auto mark = [](bool& started) -> task<> {
    started = true;
    co_return;
  };
  CHECK_THROWS_WITH(sys.run(mark(started)), has_text("cancelled: the program was told to end"));
  CHECK_FALSE(started);
  sys.run(mark(started));  // One cancel, one run.
  CHECK(started);
}

}  // namespace troupe
