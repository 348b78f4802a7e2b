#include "algorithms/language_models/grpo/sample_board.hpp"

#include <nlohmann/json.hpp>

#include "tests/test.hpp"

namespace troupe {
namespace {

using nlohmann::json;

sampled_answer answered(double reward, std::int64_t tokens) {
  return {.tokens = std::vector<llm::token_id>(std::size_t(tokens), 3),
          .log_probs = std::vector<float>(std::size_t(tokens), -1),
          .text = "an answer",
          .reward = reward};
}

TEST_CASE("sample board: the best and the worst answer turn by turn, and distributions of all") {
  answer_group none, group{.version = 4};
  none.version = 6;
  none.dropped = {{"environment", 4}};
  group.asked.question = "a question";
  group.answers = {answered(0, 2), answered(1, 4), answered(0.5, 3)};
  group.answers[1].turns = {{.shown = "Guess.",
                             .said = "5",
                             .reward = 0.25,
                             .tokens = 2,
                             .first_version = 4,
                             .last_version = 6},
                            {.shown = "Lower.", .said = "\xff", .refused = true, .tokens = 2}};
  const auto board = json::parse(sample_board({none, group}, 7, 6));
  const auto& items = board.at("conversations").at("items");
  CHECK(items[0]["heading"] == "best: reward 1.00");
  CHECK(items[0]["turns"][0] == json{"world", "Guess.", ""});
  CHECK(items[0]["turns"][1] == json{"model", "5", "reward 0.250, 2 tokens, version 4 to 6"});
  CHECK(items[0]["turns"][3] ==
        json{"model", "\uFFFD", "reward 0.0, 2 tokens, version 0, refused"});
  CHECK(items[1]["turns"] ==
        json{{"prompt", "a question", ""}, {"model", "an answer", "2 tokens"}});
  CHECK(board.at("table").at("rows") == json{{"reward", "0.0", "0.0", "0.500", "0.500", "1.00"},
                                             {"tokens", "2.00", "2.00", "3.00", "3.00", "4.00"},
                                             {"staleness", "0.0", "0.0", "0.0", "0.0", "2.00"},
                                             {"dropped: environment", "", "", "", "", "4"}});
}

TEST_CASE("sample board: without answers there is nothing to show, and long texts are cut") {
  CHECK(sample_board({answer_group{}}, 1, 0) == "{}");
  answer_group group;
  group.answers = {answered(0, 1)};
  group.answers[0].text = std::string(100'000, 'x');
  CHECK(sample_board({group}, 1, 0).size() < 20'000);
}

}  // namespace
}  // namespace troupe
