// Real servers, made with the OpenEnv package of PyPI. tests/worlds/worlds_test.sh starts them.

#include <cstdlib>

#include "actors/env/openenv/client.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/system.hpp"
#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

using nlohmann::json;

std::string url_of(const char* variable) {
  const char* url = std::getenv(variable);
  if (!url) throw std::runtime_error(std::string(variable) + " is not set");
  return url;
}

task<> play_echo(client echo) {
  auto game = echo.open();
  const auto first = co_await game.reset({{"seed", 7}, {"episode_id", "ep-1"}});
  CHECK(first.observation["echoed_message"] == "ready, seed 7");
  CHECK(first.reward == 0.0);
  for (int i = 1; i <= 50; ++i) {
    json action{{"message", std::string(static_cast<std::size_t>(i), 'x')}};
    const auto next = co_await game.step(std::move(action));
    CHECK(next.observation["message_length"] == i);
    CHECK(next.metadata["step"] == i);
    CHECK_FALSE(next.ended);
  }
  const auto state = co_await game.state();
  CHECK(state["episode_id"] == "ep-1");
  CHECK(state["step_count"] == 50);
}

TEST_CASE("openenv worlds: an echo server is played on", "[.worlds]") {
  troupe::system sys;
  client echo({.urls = {url_of("TROUPE_ECHO_URL")}}, &sys.metrics());
  sys.run(play_echo(echo));
}

}  // namespace
}  // namespace troupe::openenv
