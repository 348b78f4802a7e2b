#include "actors/text/python_text_environment.hpp"

#include <cmath>
#include <cstdlib>
#include <set>

#include "actors/python/python_worker.hpp"
#include "runtime/system/system.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;

python_text_options world(const std::string& name, const std::string& options = "{}") {
  ::setenv("PYTHONPATH", testing::source_path("tests/actors/python/functions").c_str(), 1);
  return {.world = name,
          .options = options,
          .timeout = 20,
          .python = {.interpreter = "/usr/bin/python3"}};
}

/// The error of a step, or an empty text.
task<std::string> error_of(text_environment& in, std::string reply) {
  try {
    co_await in.step(std::move(reply));
  } catch (const std::exception& error) {
    co_return error.what();
  }
  co_return "";
}

void play(task<> (*what)()) {
  troupe::system sys({.threads = 1});
  sys.run(what());
}

task<> play_one() {
  const auto played = python_text_environments(world("text_worlds:SaysA", R"({"turns": 2})"))();
  const auto first = co_await played->reset({.seed = 13});
  CHECK(first.shown.words == "say a, 3");
  const auto refused = co_await played->step("");
  CHECK(refused.refused == "expected a letter");
  CHECK_FALSE(refused.ended);
  const auto last = co_await played->step("abc");
  CHECK(last.shown.words == "again");
  CHECK(last.reward == 1);
  CHECK(last.ended);
  CHECK(last.info.at("success") == 1);
  const auto with_item = co_await played->reset({.seed = 13, .item = R"({"letter": "b"})"});
  CHECK(with_item.shown.words == "say b, 3");
  const auto talks = python_text_environments(world("text_worlds:Talks"))();
  const auto messages = co_await talks->reset({});
  CHECK(messages.system == "Be brief.");
  CHECK(messages.shown.words == "Hi.");
}

TEST_CASE("python text worlds: an episode, with options and with the line of a dataset") {
  play(play_one);
}

task<> go_wrong() {
  auto options = world("text_worlds:Faulty");
  options.timeout = 0.5;
  const auto faulty = python_text_environments(options)();
  co_await faulty->reset({.seed = 1});
  CHECK_THAT(co_await error_of(*faulty, "throw"), Contains("KeyError: 'the door'"));
  CHECK_THAT(co_await error_of(*faulty, "form"), Contains("(text, reward, terminated, truncated"));
  const auto nan = co_await faulty->step("nan");
  CHECK(std::isnan(nan.reward));
  CHECK_THAT(co_await error_of(*faulty, "exit"), Contains("ended with exit code 3"));
  const auto again = co_await faulty->reset({.seed = 1});
  CHECK(again.shown.words == "say a, 1");
  CHECK_THAT(co_await error_of(*faulty, "hang"),
             Contains("a step took longer than 0.5 s (python.world_timeout)"));
  co_await faulty->reset({.seed = 2});
}

TEST_CASE("python text worlds: each fault is told, and a reset starts a process that has ended") {
  play(go_wrong);
}

TEST_CASE("python text worlds: a world shows what its method practise makes up") {
  action_random random(1);
  const auto practise = python_practice(world("text_worlds:Practised"));
  REQUIRE(practise);
  std::set<std::string> last;
  for (int i = 0; i < 20; ++i) {
    const auto turns = practise(random);
    REQUIRE(turns.size() == 2);
    CHECK(turns[0].shown.words == "say a");
    CHECK(turns[0].said.words == "a");
    last.insert(turns[1].said.words);
  }
  CHECK(last == std::set<std::string>{"a", "b"});
  CHECK_FALSE(python_practice(world("text_worlds:SaysA")));
  CHECK_THROWS_WITH(python_practice(world("text_worlds:BadlyPractised"))(random),
                    Contains("practise: expected a list of pairs of texts, (shown, said)"));
}

TEST_CASE("python text worlds: a world that can't be made is told at once") {
  const auto refuse = [](const std::string& name, const char* expected) {
    const auto make = python_text_environments(world(name));
    CHECK_THROWS_WITH(make(), Contains(expected));
  };
  refuse("text_worlds:SaysB", "did you mean");
  refuse("text_world:SaysA", "No module named");
  refuse("skyrl:gsm8k", "skyrl");
  CHECK(names_python_text("skyrl:gsm8k"));
  CHECK(names_python_text("a.b:C"));
  CHECK_FALSE(names_python_text("blackjack"));
  CHECK_FALSE(names_python_text("openenv:http://localhost:1"));
  CHECK_FALSE(names_python_text("pettingzoo:a.b"));
}

}  // namespace
}  // namespace troupe
