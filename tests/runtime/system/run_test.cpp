// What a program's main does with signals, each in a process of its own.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/base/signal_count.hpp"
#include "runtime/system/run.hpp"
#include "tests/runtime/support.hpp"
#include "tests/runtime/trace/drawn_trace.hpp"

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

struct sleeper {
  task<> sleep() {
    raise(SIGTERM);
    co_await sleep_for(duration::max());
  }
};

task<> sleeps_until_signalled(system& sys) {
  auto sleepers = co_await sys.serve<sleeper>({.name = "sleeper"});
  co_await sleepers.route<&sleeper::sleep>();
}

/// Does not heed the first signal, nor its echo.
task<> signalled_twice(system&) {
  raise(SIGTERM);
  raise(SIGTERM);
  std::this_thread::sleep_for(signal_count::echo_time);
  raise(SIGTERM);
  std::abort();
}

/// Where its coroutine is destroyed, and the process not just ended.
struct exit_in_good_order {
  ~exit_in_good_order() { _exit(17); }
};

/// As by `timeout`, which signals the process and then its group.
task<> signalled_with_an_echo(system&) {
  const exit_in_good_order seen;
  raise(SIGTERM);
  raise(SIGTERM);
  co_await sleep_for(duration::max());
}

/// Runs `main` as a program's in a child process, which SIGALRM ends if nothing else does.
pid_t start(task<> (*main)(system&), const char* trace = "") {
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
  const char* arguments[] = {"program", "--threads", "2", "--log-level", "off", "--trace", trace};
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

TEST_CASE("run: the echo of a signal is no second one: the program ends in good order") {
  CHECK(end_of(start(signalled_with_an_echo)) == "exit 17");
}

TEST_CASE("run: a program that a signal cancels leaves its trace") {
  const auto path = (std::filesystem::temp_directory_path() /
                     ("troupe_run_test_" + std::to_string(getpid()) + ".json"))
                        .string();
  CHECK(end_of(start(sleeps_until_signalled, path.c_str())) == "exit 130");
  const auto seen = read_trace(nlohmann::json::parse(std::ifstream(path)));
  CHECK(seen.only("waiting for sleeper.sleep").outcome == "cancelled");
  std::filesystem::remove(path);
}

TEST_CASE("run: a trace that can't be written is refused before anything runs") {
  CHECK(end_of(start(wait_for_ever, "/no/such/folder/trace.json")) == "exit 2");
}

TEST_CASE("signal_count: a second signal is one that comes half a second after the first") {
  using meaning = signal_count::meaning;
  signal_count count;
  const auto begin = std::chrono::hours(5);
  CHECK(count.note(begin) == meaning::first);
  CHECK(count.note(begin) == meaning::echo);
  CHECK(count.note(begin + 499ms) == meaning::echo);
  CHECK(count.note(begin + 500ms) == meaning::second);
}

TEST_CASE("run: no signal is lost, at whatever moment of the start it comes") {
  int tries = 0, by_signal = 0, cancelled = 0;
  // Up to 6 ms after the start; on a busy machine `run` is not there by then, so on from there.
  for (int i = 0; i < 60 || (cancelled == 0 && i < 500); ++i) {
    ++tries;
    const auto child = start(wait_for_ever);
    std::this_thread::sleep_for(i * 100us);
    REQUIRE(kill(child, SIGTERM) == 0);
    const auto end = end_of(child);
    by_signal += end == "signal 15";  // Before `run` watched.
    cancelled += end == "exit 130";
    if (end == "signal 14") break;  // Lost; the others would be, too.
  }
  CHECK(by_signal + cancelled == tries);
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
