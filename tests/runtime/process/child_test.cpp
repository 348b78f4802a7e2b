#include "runtime/process/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "runtime/base/sanitizers.hpp"
#include "runtime/process/pidfd.hpp"
#include "tests/runtime/process/support.hpp"
#include "tests/test.hpp"

namespace troupe::detail {
namespace {

/// The children of this process, zombies too; of earlier tests some may still be ending.
std::set<pid_t> children() {
  std::set<pid_t> all;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(thread.path() / "children");
    all.insert(std::istream_iterator<pid_t>(list), {});
  }
  return all;
}

TEST_CASE("child: it gets what is sent to it, and answers") {
  player echo("echo");
  echo.send("hello");
  CHECK(echo.heard->next_text() == "hello");
  echo.send("");
  CHECK(echo.heard->next_text() == "");
}

TEST_CASE("child: how it ended is said in words, to the owner and by the link") {
  const auto [told, code, why] = GENERATE(table<std::string, int, std::string>(
      {{"exit", 3, "ended with exit code 3"},
       {"segfault", SIGSEGV, "was killed by signal 11 (Segmentation fault)"},
       {"abort", SIGABRT, "was killed by signal 6 (Aborted)"}}));
  player obeys("obey");
  obeys.send(told);
  CHECK(obeys.heard->wait_closed() == "process " + std::to_string(obeys.process.pid()) + " " + why);
  const auto end = obeys.wait_end();
  CHECK(end.why == why);
  CHECK(end.code == code);
  CHECK(end.killed == (told != "exit"));
}

TEST_CASE("child: a killed one is told apart from one that its parent killed") {
  player by_hand("listen"), by_parent("hang");
  ::kill(by_hand.process.pid(), SIGKILL);
  CHECK(by_hand.wait_end().why == "was killed by signal 9 (by hand or for want of memory)");
  by_parent.process.kill();
  CHECK(by_parent.wait_end().why == "was killed by signal 9 (by its parent)");
  CHECK(by_parent.heard->wait_closed().ends_with("was killed by signal 9 (by its parent)"));
}

TEST_CASE("child: it ends by itself when its link closes") {
  player listens("listen");
  listens.process.way()->close("enough");
  CHECK(listens.heard->wait_closed() == "enough");
  CHECK(listens.wait_end().why == "ended with exit code 0");
}

TEST_CASE("child: one that does not hear its link is killed when its owner lets go of it") {
  std::promise<child_end> ended;
  {
    child hangs({.arguments = {"hang"}}, [&](const child_end& end) { ended.set_value(end); });
  }
  auto end = ended.get_future();
  REQUIRE(end.wait_for(deadline) == std::future_status::ready);
  CHECK(end.get().why == "was killed by signal 9 (by its parent)");
}

/// The process of that number, though it is no child.
descriptor process_of(const std::string& number) {
  return {::pidfd_open(std::stoi(number), 0), "watch process " + number};
}

bool has_ended(const descriptor& process, std::chrono::steady_clock::time_point limit) {
  using std::chrono::milliseconds;
  pollfd ended{process.number(), POLLIN, 0};
  const auto time = std::chrono::ceil<milliseconds>(limit - std::chrono::steady_clock::now());
  return ::poll(&ended, 1, static_cast<int>(std::max<std::int64_t>(time.count(), 0))) == 1;
}

TEST_CASE("child: none is left when its parent is killed") {
  player middle("middle");
  std::vector<descriptor> left;
  for (int i = 0; i < 3; ++i) left.push_back(process_of(middle.heard->next_text()));
  middle.process.kill();
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  for (const auto& process : left) CHECK(has_ended(process, limit));
}

TEST_CASE("child: what it has started ends with it") {
  player breeds("breed");
  const auto left = process_of(breeds.heard->next_text());
  breeds.send("end");
  CHECK(breeds.wait_end().why == "ended with exit code 0");
  CHECK(has_ended(left, std::chrono::steady_clock::now() + deadline));
}

TEST_CASE("child: its environment is its parent's, but for what is given") {
  ::setenv("TROUPE_TEST_A", "parent's", 1);
  ::setenv("TROUPE_TEST_AB", "parent's", 1);
  player recites("recite", {.environment = {"TROUPE_TEST_A=own"}});
  for (const auto& [name, value] :
       {std::pair("TROUPE_TEST_A", "own"), std::pair("TROUPE_TEST_AB", "parent's"),
        std::pair(child_variable, "none")}) {
    recites.send(name);
    CHECK(recites.heard->next_text() == value);
  }
  ::unsetenv("TROUPE_TEST_A");
  ::unsetenv("TROUPE_TEST_AB");
}

TEST_CASE("child: a process that is none is told so") {
  CHECK(link_to_parent() == nullptr);
  ::setenv(child_variable, "yes", 1);
  CHECK_THROWS_WITH(link_to_parent(),
                    "TROUPE_CHILD is \"yes\": only Troupe sets it, for a child that it starts");
  CHECK(link_to_parent() == nullptr);
}

TEST_CASE("child: it inherits its three standard descriptors and nothing else of its parent's") {
  // Not close-on-exec, and above what a child opens itself.
  const descriptor of_parent(::fcntl(STDIN_FILENO, F_DUPFD, 100), "copy");
  player describes("describe", {.nice = 3});
  const auto about = describes.heard->next_text();
  // Its own are the link's.
  CHECK_THAT(about,
             Catch::StartsWith("0 1 2 anon_inode:[eventfd] anon_inode:[eventpoll] socket |"));
  const auto nice = std::to_string(std::min(::getpriority(PRIO_PROCESS, 0) + 3, 19));
  CHECK_THAT(about, Catch::EndsWith("| 0 blocked, own group 1, nice " + nice +
                                    ", test_process, not marked"));
}

TEST_CASE("child: what can't be started is an error in words, and nothing is left of it") {
  const auto before = children();
  const std::string too_long(200'000, 'x');
  CHECK_THROWS_WITH(child({.arguments = {too_long}}),
                    "cannot start a child: it could not execute the program: "
                    "Argument list too long");
  CHECK(std::ranges::includes(before, children()));
}

#ifndef TROUPE_SANITIZED  // The sanitizers' shadow memory is above any limit.
TEST_CASE("child: a limit on its memory costs it alone") {
  player eats("obey", {.memory_limit = 256 << 20});
  eats.send("eat");
  CHECK(eats.wait_end().why == "ended with exit code 4");
}
#endif

TEST_CASE("child: hundreds of them leave no descriptor and no zombie") {
#ifdef TROUPE_SANITIZED
  constexpr int rounds = 3;  // They take a hundred times as long to start and to end.
#else
  constexpr int rounds = 30;
#endif
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto round = [] {
    std::vector<std::unique_ptr<player>> group;
    for (int i = 0; i < 10; ++i) group.push_back(std::make_unique<player>("leave"));
    for (const auto& one : group) {
      CHECK(one->wait_end().why == "ended with exit code 0");
      one->heard->wait_closed();
    }
  };
  round();
  const auto before = open_descriptors();
  const auto children_before = children();
  for (int i = 0; i < rounds; ++i) round();
  CHECK(open_descriptors() <= before);
  CHECK(std::ranges::includes(children_before, children()));
}

}  // namespace
}  // namespace troupe::detail
