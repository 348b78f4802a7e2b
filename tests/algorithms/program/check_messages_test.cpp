#include "algorithms/program/check_messages.hpp"

#include "tests/captured_stream.hpp"
#include "tests/test.hpp"

namespace troupe::command {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("check messages: a check that takes long says again and again which call it makes") {
  const testing::captured_stderr output;
  check_messages messages("Slow-v0", std::chrono::milliseconds(1));
  messages.begins({"reset", "without a seed"});
  messages.begins({"step", "episode 1, step 3"});
  messages.wait_for_message();
  messages.begins({"asking the server for its view"});
  messages.wait_for_message();
  messages.end();
  CHECK_THAT(output.text(), Contains("info the environment is being checked environment=Slow-v0 "
                                     "call=\"asking the server for its view\" calls=3 seconds=") &&
                                Contains("call=\"step (episode 1, step 3)\" calls=2 "));
}

TEST_CASE("check messages: a check that is over sooner, or makes no call, says nothing") {
  const testing::captured_stderr output;
  {
    const check_messages none("Fast-v0", std::chrono::milliseconds(1));
    check_messages soon("Fast-v0", std::chrono::hours(1));
    soon.begins({"reset"});
  }
  CHECK(output.text().empty());
}

}  // namespace
}  // namespace troupe::command
