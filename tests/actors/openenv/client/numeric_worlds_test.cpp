#include "actors/openenv/client/numeric_worlds.hpp"

#include <atomic>
#include <chrono>

#include "actors/environments/hosted_environment.hpp"
#include "actors/openenv/client/view_discovery.hpp"
#include "runtime/base/log.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/openenv/client/fake_server.hpp"
#include "tests/captured_stream.hpp"
#include "tests/runtime/support.hpp"
#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr int slots = 2;

std::string observation(bool ended = false) {
  const json seen{{"obs", {0.5}}};
  return reply_text(reply_kind::observation,
                    {{"observation", seen}, {"reward", 1}, {"done", ended}});
}

void refuse(fake_connection& to) {
  to.send_text(error_text(server_error::capacity_reached, "full",
                          {{"active_sessions", slots}, {"max_sessions", slots}}));
  to.send_close(1000, "");
}

/// Plays episodes that don't end, with `slots` clients at the same time.
struct full_server {
  std::atomic<int> playing{0};
  fake_server server{{.session = [this](fake_connection& to) { serve(to); }, .http = {}}};

  void serve(fake_connection& to) {
    if (++playing > slots) {
      refuse(to);
    } else {
      while (!to.receive().empty()) to.send_text(observation());
    }
    --playing;
  }
};

numeric_view view() {
  return served_view({.id = "Walled-v0",
                      .observation_space = spaces::box(0, 1, {1}),
                      .action_space = spaces::discrete(2)});
}

TEST_CASE("openenv numeric worlds: more of them than the server has sessions are refused in time",
          "[openenv]") {
  testing::log_off();
  full_server full;
  auto worlds =
      make_numeric_worlds(view(), {.urls = {full.server.url()}, .capacity_timeout = 1s}, 3);
  for (const auto limit : {5s, 1s}) {
    const auto began = std::chrono::steady_clock::now();
    CHECK_THROWS_WITH(worlds->reset(1),
                      Catch::Contains("no server had room") &&
                          Catch::Contains("3 environments take their steps together"));
    CHECK(std::chrono::steady_clock::now() - began < limit);
  }
}

TEST_CASE("openenv numeric worlds: a server that says it has fewer sessions refuses them at once",
          "[openenv]") {
  testing::log_off();
  full_server full;
  auto worlds =
      make_numeric_worlds(view(), {.urls = {full.server.url()}, .capacity_timeout = 1h}, 3);
  CHECK_THROWS_WITH(worlds->reset(1), Catch::Contains("3 environments take their steps together"));

  worlds = nullptr;  // gives up the slots
  const auto room = room_for({.urls = {full.server.url()}}, 5);
  CHECK(room.sessions == slots);
  CHECK(room.refusal);
  CHECK(room_for({.urls = {full.server.url()}}, slots).sessions == slots);
}

TEST_CASE("openenv numeric worlds: a server that can't be reached is asked once for each episode",
          "[openenv]") {
  testing::log_off();
  const auto url = fake_server({}).url();
  auto worlds = make_numeric_worlds(view(), {.urls = {url}, .connect_timeout = 1s}, 2);
  const auto began = std::chrono::steady_clock::now();
  CHECK_THROWS_WITH(worlds->reset(1), Catch::Contains("Connection refused"));
  CHECK(std::chrono::steady_clock::now() - began < 2s);
}

/// Answers each request with the same observation.
void answer_all(fake_connection& to) {
  while (!to.receive().empty()) to.send_text(observation());
}

/// A view in which action 1 is illegal.
numeric_view limited_view() {
  auto made = view();
  made.forbid = [](const json&, action_view action) {
    return action.discrete() == 1 ? std::optional(-1.0) : std::nullopt;
  };
  return made;
}

void take_steps(const numeric_view& of, const std::string& url, std::vector<std::int64_t> choices,
                int steps) {
  auto worlds = make_numeric_worlds(of, {.urls = {url}}, choices.size());
  worlds->reset(1);
  env_actions actions;
  actions.discrete.assign(choices.begin(), choices.end());
  for (int i = 0; i < steps; ++i) worlds->step(actions);
}

TEST_CASE("openenv numeric worlds: episodes that illegal actions end are told once, with numbers",
          "[openenv]") {
  log::set_level("info");
  const fake_server server({.session = answer_all, .http = {}});
  const auto count = [](const std::string& text) {
    int times = 0;
    for (auto at = text.find("by_illegal_action="); at != text.npos;
         at = text.find("by_illegal_action=", at + 1))
      ++times;
    return times;
  };
  const auto limited = limited_view();
  {
    const testing::captured_stderr said;
    take_steps(limited, server.url(), {0, 0}, 3);
    CHECK(count(said.text()) == 0);  // all actions were legal
    take_steps(limited, server.url(), {1, 0}, 3);
    CHECK_THAT(said.text(), Catch::Contains("illegal actions have ended episodes") &&
                                Catch::Contains("env=Walled-v0 episodes=3 by_illegal_action=3"));
    take_steps(limited, server.url(), {1, 1}, 3);
    CHECK(count(said.text()) == 1);
  }
  CHECK(limited.ended->all == 9);
  CHECK(limited.ended->by_illegal_action == 9);

  // A run that goes on tells it after so many episodes.
  const testing::captured_stderr said;
  const auto other = limited_view();
  auto worlds = make_numeric_worlds(other, {.urls = {server.url()}}, 1);
  worlds->reset(1);
  env_actions actions;
  actions.discrete = {1};
  for (int i = 0; i < 99; ++i) worlds->step(actions);
  CHECK(count(said.text()) == 0);
  worlds->step(actions);
  CHECK_THAT(said.text(), Catch::Contains("episodes=100 by_illegal_action=100"));
  testing::log_off();
}

TEST_CASE("openenv numeric worlds: numbers that no 32-bit float has are named", "[openenv]") {
  std::vector<float> obs(1);
  const auto large = Catch::Contains("32-bit float") && Catch::Contains("got 1e+300");
  CHECK_THROWS_WITH(view().observe({{"obs", {1e300}}}, obs),
                    Catch::Contains("/data/observation/obs/0: expected") && large);
  const json hand{{"info_state", {0, -1e300}}};
  CHECK_THROWS_WITH(openspiel_view("catch").observe(hand, obs),
                    Catch::Contains("/info_state/1") && Catch::Contains("got -1e+300"));
  view().observe({{"obs", {3e38}}}, obs);
  CHECK(obs[0] == 3e38F);
}

task<> ask_for_a_step(system& sys, std::string url) {
  auto make = [url] {
    return make_numeric_worlds(view(), {.urls = {url}, .capacity_timeout = 1h}, 3);
  };
  auto hosts =
      co_await sys.serve<hosted_environment>({.name = "worlds", .placement = placement::thread},
                                             hosted_environment::factory(make), std::uint64_t{7});
  const auto seen =
      co_await hosts.with({.deadline = 500ms}).try_route<&hosted_environment::observe>();
  CHECK_FALSE(seen);
}

TEST_CASE("openenv numeric worlds: their wait ends with the system of their role", "[openenv]") {
  testing::log_off();
  full_server full;
  const auto began = std::chrono::steady_clock::now();
  {
    troupe::system sys({.threads = 2});
    sys.run(ask_for_a_step(sys, full.server.url()));
  }
  CHECK(std::chrono::steady_clock::now() - began < 5s);
}

}  // namespace
}  // namespace troupe::openenv
