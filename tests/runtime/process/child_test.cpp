#include "runtime/process/child.hpp"

#include <signal.h>

#include "tests/runtime/process/support.hpp"
#include "tests/test.hpp"

namespace troupe::detail {
namespace {

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

}  // namespace
}  // namespace troupe::detail
