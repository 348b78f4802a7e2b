// What a program's main does with signals, each in a process of its own.

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
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

/// A role with which the process ends, as it does where the system can't end.
struct last_role {
  ~last_role() { _exit(18); }
  int ask() { return 1; }
};

task<> fails_with_a_role(system& sys) {
  auto last = co_await sys.serve<last_role>({.name = "last"});
  co_await last.route<&last_role::ask>();
  throw std::runtime_error("the program has failed");
}

/// Writes to a pipe that nobody reads, and beyond what a file may hold, also after `run`.
task<> writes_in_vain(system&) {
  int ends[2];
  if (pipe(ends) != 0) _exit(20);
  close(ends[0]);
  if (write(ends[1], "1", 1) != -1 || errno != EPIPE) _exit(21);
  const rlimit one_byte{1, 1};
  setrlimit(RLIMIT_FSIZE, &one_byte);
  std::FILE* const file = std::tmpfile();
  if (write(fileno(file), "1", 1) != 1) _exit(22);
  if (write(fileno(file), "2", 1) != -1 || errno != EFBIG) _exit(23);
  co_return;
}

/// Runs `main` as a program's in a child process, which SIGALRM ends if nothing else does.
pid_t start(task<> (*main)(system&), const char* trace = "", const char* errors = "/dev/null") {
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, &before);
  const auto child = fork();
  if (child == 0) signal(SIGTERM, SIG_DFL);  // Not Catch2's handler.
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child != 0) return child;
  std::freopen(errors, "w", stderr);
  std::setvbuf(stderr, nullptr, _IONBF, 0);  // As it is at the start of a program.
  alarm(20);
  const char* arguments[] = {"program", "--threads", "2", "--log-level", "off", "--trace", trace};
  const int code = run(std::size(arguments), const_cast<char**>(arguments), main);
  raise(SIGPIPE);  // As what is printed late may do.
  raise(SIGXFSZ);
  _exit(code);
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

TEST_CASE("run: an error is told before the system ends, which may end the process") {
  const auto path = (std::filesystem::temp_directory_path() /
                     ("troupe_run_test_" + std::to_string(getpid()) + ".txt"))
                        .string();
  CHECK(end_of(start(fails_with_a_role, "", path.c_str())) == "exit 18");
  std::ifstream file(path);
  const std::string said(std::istreambuf_iterator<char>(file), {});
  CHECK(said == "error: the program has failed\n");
  std::filesystem::remove(path);
}

TEST_CASE("run: a write that can't succeed is an error and ends no program") {
  CHECK(end_of(start(writes_in_vain)) == "exit 0");
}

TEST_CASE("to_text: a time just under a unit is one of it") {
  CHECK(detail::to_text(999999us) == "1 s");
  CHECK(detail::to_text(999499us) == "999 ms");
  CHECK(detail::to_text(999600ns) == "1 ms");
  CHECK(detail::to_text(1500ms) == "1.5 s");
  CHECK(detail::to_text(1h) == "3600 s");
  CHECK(detail::to_text(0s) == "0 s");
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
