#include "actors/text/recorded_episodes.hpp"

#include <fstream>

#include "actors/data/jsonl.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;

/// Counts its steps over all episodes, so that it never says the same twice.
class unsteady final : public text_environment {
 public:
  explicit unsteady(std::shared_ptr<int> said) : said_(std::move(said)) {}

  task<text_step> reset(const text_reset&) override {
    co_return text_step{.system = "Play.", .shown = {"Begin.", "0>"}, .info = {{"level", 2}}};
  }
  task<text_step> step(std::string reply) override {
    if (reply == "die") throw std::runtime_error("the world is gone");
    if (reply == "hm") co_return text_step{.refused = "expected a word"};
    const int now = ++*said_;
    co_return text_step{.shown = {"Step " + std::to_string(now)},
                        .reward = 0.1 * now,
                        .ended = reply == "end",
                        .info = {{"success", double(reply == "end")}}};
  }

 private:
  std::shared_ptr<int> said_;
};

/// What a world says to these replies; the words of an error stand for a step that fails.
task<std::vector<std::string>> play(text_environment& world, text_reset with,
                                    std::vector<std::string> replies) {
  std::vector<std::string> heard;
  try {
    const auto first = co_await world.reset(with);
    heard.push_back(first.system + first.shown.words + first.shown.letters);
    for (auto& reply : replies) {
      const auto next = co_await world.step(std::move(reply));
      heard.push_back(next.shown.words + next.refused + ' ' + std::to_string(next.reward) +
                      (next.ended ? " end" : ""));
    }
  } catch (const std::exception& e) {
    heard.emplace_back(e.what());
  }
  co_return heard;
}

using script = std::vector<std::string>;

task<> play_and_replay(system&) {
  const temporary_folder folder;
  const auto path = folder.path / "episodes.jsonl";
  const auto count = std::make_shared<int>(0);
  const text_reset one{.seed = 7, .item = R"({"a": 1})"},
      two{.seed = 7, .item = R"({"a": 1})", .episode = 1};
  std::vector<script> told;
  {
    const auto recording = std::make_shared<recording_file>(path);
    const auto world = recorded([=] { return std::make_unique<unsteady>(count); }, recording)();
    told.push_back(co_await play(*world, one, {"go", "hm", "end"}));
    told.push_back(co_await play(*world, two, {"go", "hm", "end"}));
    told.push_back(co_await play(*world, one, {"go", "hm", "end"}));  // an evaluation asks again
    told.push_back(co_await play(*world, {.seed = 8}, {"go", "die"}));
    told.push_back(co_await play(*world, {.seed = 9}, {"caf\xe9"}));  // it does not end
  }
  CHECK(told[0] != told[1]);
  const auto episodes = read_episodes(path);
  const auto world = replayed(episodes)();
  const auto beside = replayed(episodes)();
  std::vector<script> again(5);
  again[1] = co_await play(*beside, two, {"go", "hm", "end"});
  again[0] = co_await play(*world, one, {"go", "hm", "end"});
  again[2] = co_await play(*world, one, {"go", "hm", "end"});
  again[3] = co_await play(*world, {.seed = 8}, {"go", "die"});
  again[4] = co_await play(*world, {.seed = 9}, {"caf\xe9"});
  CHECK(again == told);

  const auto other = co_await play(*world, one, {"go", "stay"});
  CHECK_THAT(other.back(), Contains("expected an episode with the seed 7 in which the "
                                    "model says \"stay\" in turn 2, got none"));
  const auto none = co_await play(*world, {.seed = 10}, {});
  CHECK_THAT(none.back(), Contains("expected an episode with the seed 10, the item {} and "
                                   "the number 0, got none"));
}

TEST_CASE("recorded episodes: a replay says what the world has said, without it") {
  system sys({.deterministic = true, .seed = 1});
  sys.run(play_and_replay(sys));
}

TEST_CASE("recorded episodes: a recording is of one run, and goes on where a checkpoint has it") {
  const temporary_folder folder;
  const auto path = folder.path / "episodes.jsonl";
  std::int64_t size = 0;
  {
    recording_file first(path);
    first.append("{\"id\": 1, \"seed\": 1, \"item\": {}, \"episode\": 0, \"step\": {}}\n");
    size = first.size();
    first.append("{\"lost\": 1}\n");
  }
  CHECK_THROWS_WITH(recording_file(path), Contains("expected no file or an empty one"));
  CHECK(recording_file(path, size).size() == size);
  CHECK_NOTHROW(read_episodes(path));
  recording_file more(path, size);
  const auto id = more.next_id();
  CHECK(id > size);
  CHECK(more.next_id() > id);
}

TEST_CASE("recorded episodes: a line that is none is named") {
  const temporary_folder folder;
  const auto path = folder.path / "episodes.jsonl";
  std::ofstream(path) << "{\"seed\": 1}\n";
  CHECK_THROWS_AS(read_episodes(path), jsonl_error);
  CHECK_THROWS_WITH(read_episodes(path), Contains("episodes.jsonl:1: "));
}

}  // namespace
}  // namespace troupe
