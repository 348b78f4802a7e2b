#include "actors/text/text_episode.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "actors/data/jsonl.hpp"
#include "actors/openenv/text/chat_view.hpp"
#include "actors/reward/weighted_reward.hpp"
#include "actors/text/episode_rewards.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/openenv/client/fake_server.hpp"
#include "tests/actors/openenv/protocol/recorded_session.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using nlohmann::json;
using openenv::fake_connection;
using openenv::fake_server;

/// Echoes; ends at "bye", refuses "bad".
void echo(fake_connection& to) {
  for (;;) {
    const auto text = to.receive();
    if (text.empty() || text == openenv::request_text(openenv::request_kind::close, "")) return;
    const auto asked = json::parse(text);
    if (asked.at("type") == "state") {
      to.send_text(openenv::reply_text(openenv::reply_kind::state, {{"step_count", 0}}));
      continue;
    }
    const bool reset = asked.at("type") == "reset";
    const std::string message =
        reset ? asked.at("data").value("greeting", "ready") : asked.at("data").value("message", "");
    if (message == "bad") {
      to.send_text(openenv::error_text(openenv::server_error::validation_error, "Invalid message"));
      continue;
    }
    const json shown{{"echoed_message", message}, {"message_length", message.size()}};
    const json data{
        {"observation", shown}, {"reward", reset ? json() : json(0.5)}, {"done", message == "bye"}};
    to.send_text(openenv::reply_text(openenv::reply_kind::observation, data));
  }
}

/// Writes these texts, one a turn, of 10 tokens each.
class script {
 public:
  explicit script(std::vector<std::string> lines)
      : lines_(std::make_shared<std::vector<std::string>>(std::move(lines))),
        next_(std::make_shared<std::size_t>(0)) {}
  task<written_text> operator()(conversation) const { return write(lines_, next_); }

 private:
  static task<written_text> write(std::shared_ptr<std::vector<std::string>> lines,
                                  std::shared_ptr<std::size_t> next) {
    const auto turn = (*next)++;
    co_return written_text{lines->at(turn), 10, static_cast<std::int64_t>(7 - turn)};
  }
  std::shared_ptr<std::vector<std::string>> lines_;
  std::shared_ptr<std::size_t> next_;
};

task<text_episode> play_in(text_environment_maker make, text_task item, text_writer write,
                           text_limits limits) {
  const auto world = make();
  auto played = co_await play_text_episode(*world, std::move(item), std::move(write), limits);
  co_return played;
}

text_episode play(std::vector<std::string> lines, text_limits limits = {}, text_task item = {}) {
  fake_server server({.session = echo, .http = {}});
  troupe::system sys;
  const auto games = openenv::chat_environments(openenv::echo_chat_view(),
                                                openenv::worlds_on({.urls = {server.url()}}));
  return sys.run(play_in(games, std::move(item), script(std::move(lines)), limits));
}

TEST_CASE("text episode: model and world take turns until the world ends it", "[text]") {
  const auto played = play({"<action>hello</action>", "so: <action>bye</action>"}, {},
                           {.prompt = {{"user", "Be polite."}}, .reset = {{"greeting", "hi"}}});
  CHECK(played.end == text_end::world);
  CHECK(played.world_return == 1.0);
  CHECK(played.answer() == "bye");
  CHECK(played.version == 6);
  const conversation after_the_system_prompt(played.said.begin() + 1, played.said.end());
  CHECK(after_the_system_prompt == conversation{{"user", "Be polite."},
                                                {"user", "hi"},
                                                {"assistant", "<action>hello</action>"},
                                                {"user", "hello"},
                                                {"assistant", "so: <action>bye</action>"},
                                                {"user", "bye"}});
}

TEST_CASE("text episode: the model is told what was malformed or refused, and goes on", "[text]") {
  const auto played =
      play({"hello", "<action>bad</action>", "<action>bye</action>"}, {.malformed_reward = -0.25});
  CHECK(played.end == text_end::world);
  REQUIRE(played.turns.size() == 3);
  CHECK(played.turns[0].refused == "expected exactly one <action>...</action>");
  CHECK(played.turns[1].refused.find("VALIDATION_ERROR") != std::string::npos);
  CHECK(played.world_return == 0.0);  // -0.25 - 0.25 + 0.5
  CHECK(played.said[3].content == "That was no action: expected exactly one <action>...</action>");
  CHECK(well_formed_turns(played) == Approx(1.0 / 3));
}

TEST_CASE("text episode: limits of turns and tokens end it, and so may a malformed turn",
          "[text]") {
  const std::vector<std::string> chatty(9, "<action>more</action>");
  CHECK(play(chatty).turns.size() == 8);
  CHECK(play(chatty).end == text_end::turns);
  const auto short_of_tokens = play(chatty, {.tokens_max = 25});
  CHECK(short_of_tokens.end == text_end::tokens);
  CHECK(short_of_tokens.turns.size() == 3);
  const auto strict = play({"hm"}, {.malformed = malformed_rule::end, .malformed_reward = -1});
  CHECK(strict.end == text_end::malformed);
  CHECK(strict.world_return == -1);
  CHECK_THROWS_AS(play(chatty, {.turns_max = 0}), std::invalid_argument);
}

TEST_CASE("text episode: rewards are the world's, of the format and of the answer, weighted",
          "[text]") {
  const auto played = play({"hm", "<action>bye</action>"}, {}, {.expected = "bye"});
  weighted_reward<text_episode> judge({{"world", world_return_of},
                                       {"format", well_formed_turns, 0.5},
                                       {"right", answer_is_exact, 2},
                                       {"shape", answer_matches{"b.e"}, 0}});
  const auto judged = judge.evaluate(played);
  CHECK(judged.values == std::vector<double>{0.5, 0.5, 1, 1});
  CHECK(judged.total == 0.5 + 0.25 + 2);
}

TEST_CASE("text world: blackjack's cards are in its words", "[text]") {
  const auto hands = openenv::recorded_exchanges("openspiel_blackjack_ws.txt", "two hands");
  const auto first = openenv::parse_reply(hands[0].reply).result;
  const auto world = openenv::blackjack_chat_view();
  const auto words = world.show(first);
  INFO(words);
  // The tensor's thermometer says 11.
  CHECK(words.find("(11)") != words.npos);
  CHECK(words.find("The dealer shows: ") != words.npos);
  CHECK(world.act(parse_action("<action>stand</action>")) == json{{"action_id", 1}});
  CHECK_THROWS_WITH(world.act(parse_action("<action>fold</action>")),
                    "expected an action of HIT, STAND");
  CHECK_THROWS_AS(openenv::blackjack_in_words({1, 2}), std::invalid_argument);
}

TEST_CASE("text world: tools are called, and their results and errors shown", "[text]") {
  const auto world = openenv::tools_chat_view();
  const auto call = world.parse(
      "<tool_call>{\"name\":\"echo_message\",\"arguments\":{\"message\":\"Hello\"}}</tool_call>");
  CHECK(world.act(call) == json{{"type", "call_tool"},
                                {"tool_name", "echo_message"},
                                {"arguments", {{"message", "Hello"}}}});
  for (const auto& [request, text] : openenv::recorded_exchanges("echo_env_ws.txt", "(/ws)")) {
    const auto got = openenv::parse_reply(text);
    if (request.find("\"Hello\"") != request.npos) CHECK(world.show(got.result) == "Hello");
    if (request.find("no_such_tool") != request.npos)
      CHECK(world.show(got.result) == "tool_not_found: Unknown tool: 'no_such_tool'");
  }
}

TEST_CASE("text tasks: they are read from JSON Lines, and refused by line", "[text]") {
  const auto path = std::filesystem::temp_directory_path() /
                    ("troupe_text_tasks_" + std::to_string(::getpid()) + ".jsonl");
  std::ofstream(path) << R"({"prompt":"Say hi.","env_name":"echo","expected":"hi","split":"train"})"
                      << "\n"
                      << R"({"prompt":[{"role":"user","content":"a"}],"reset":{"seed":3}})"
                      << "\n";
  const auto tasks = read_text_tasks(path);
  REQUIRE(tasks.size() == 2);
  CHECK(tasks[0].prompt == conversation{{"user", "Say hi."}});
  CHECK(tasks[0].world == "echo");
  CHECK(tasks[1].reset == json{{"seed", 3}});
  for (const auto* bad : {R"({"prompt":3})", R"({"prompt":[{"role":"user"}]})", R"({"reset":[]})",
                          R"({"expected":1})"}) {
    std::ofstream(path) << bad << "\n";
    CHECK_THROWS_WITH(read_text_tasks(path), Catch::Contains(".jsonl:1: /"));
  }
  std::filesystem::remove(path);
}

TEST_CASE("text tasks: what the prepare script writes is read, and is the same for a seed",
          "[text]") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("troupe_prepared_" + std::to_string(::getpid()));
  const auto prepare = [&](const std::string& into) {
    const std::string command = "/usr/bin/python3 " +
                                testing::source_path("examples/text_tasks/prepare.py") +
                                " --env all --tasks 4 --output " + (folder / into).string();
    REQUIRE(std::system(command.c_str()) == 0);
  };
  prepare("one");
  prepare("two");
  std::size_t worlds = 0;
  for (const auto& world : std::filesystem::directory_iterator(folder / "one")) {
    ++worlds;
    const auto tasks = read_text_tasks(world.path() / "train.jsonl");
    CHECK(tasks.size() == 4);
    CHECK(read_text_tasks(world.path() / "validation.jsonl").size() == 1);
    CHECK(tasks[0].world == world.path().filename());
    CHECK_FALSE(tasks[0].prompt.empty());
    const auto again = read_text_tasks(folder / "two" / world.path().filename() / "train.jsonl");
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      CHECK(tasks[i].prompt == again[i].prompt);
      CHECK(tasks[i].reset == again[i].reset);
    }
  }
  CHECK(worlds == 9);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace troupe
