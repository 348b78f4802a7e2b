#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/prompt_format.hpp"

#include <map>

#include "runtime/coroutine/combine.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

TEST_CASE("answer_problems: an answer that is rare among problems is learned as often as others") {
  const auto format = prompt_format_of(grpo_config{});
  std::vector<llm::problem> problems{{.letters = "1000>", .expected = "1"}};
  for (int i = 0; i < 99; ++i)
    problems.push_back({.letters = std::to_string(2000 + i) + ">", .expected = "2"});
  const auto sampler = answer_problems(format, problems);
  action_random random(1);
  std::map<std::vector<llm::token_id>, int> seen;
  for (int i = 0; i < 1000; ++i) ++seen[sampler(random).answers.front()];
  CHECK(seen.size() == 2);
  CHECK(seen[format.answer_of("1")] == Approx(500).margin(60));  // four standard deviations
}

TEST_CASE("starting_weights: moments are those of the warm start, and none without one") {
  grpo_config config;
  config.warm_start = {.batches = 2, .batch_size = 2, .lr = 1e-3};
  const auto format = prompt_format_of(config);
  const auto sampler = answer_problems(format, {{.letters = "12>", .expected = "3"}});
  system sys({.deterministic = true});
  const auto warm = sys.run(starting_weights(config, format, sampler));
  CHECK(warm.moments.step == 2);
  CHECK(std::ssize(warm.moments.second_moment) == warm.parameters.numel());
  config.warm_start.batches = 0;
  const auto cold = sys.run(starting_weights(config, format, sampler));
  CHECK(cold.moments == adam_state{});
}

TEST_CASE("starting_weights: between two batches a stop is seen, and others have their turn") {
  grpo_config config;
  config.warm_start = {.batches = 20, .batch_size = 2, .lr = 1e-3};
  const auto format = prompt_format_of(config);
  int lessons = 0;
  const auto sampler = [&, one = answer_problems(format, {{.letters = "12>", .expected = "3"}})](
                           action_random& random) {
    ++lessons;
    return one(random);
  };
  system sys({.deterministic = true});
  const auto stop = [&] { return lessons == 6; };
  try {
    sys.run(starting_weights(config, format, sampler, stop));
    FAIL("expected an error");
  } catch (const call_error& e) {
    CHECK(e.kind() == error_kind::cancelled);
  }
  CHECK(lessons == 6);
  // A timer of the same actor passes in the middle.
  CHECK_THROWS_AS(sys.run(with_timeout(starting_weights(config, format, sampler),
                                       std::chrono::microseconds(10))),
                  call_error);
  CHECK(lessons > 6);
  CHECK(lessons < 6 + 40);
}

TEST_CASE("prompt_format: a model that was kept for a score has it in its file") {
  temporary_folder folder;
  const auto format = prompt_format_of(grpo_config{});
  grpo_config cold;
  cold.warm_start.batches = 0;
  const auto sampler = answer_problems(format, {{.letters = "12>", .expected = "3"}});
  system sys({.deterministic = true});
  const auto parameters = sys.run(starting_weights(cold, format, sampler)).parameters;
  format.write_model(folder.path / "best", parameters, 0.1 + 0.2);
  CHECK(score_of(folder.path / "best") == 0.1 + 0.2);
  format.write_model(folder.path / "last", parameters);
  CHECK_FALSE(score_of(folder.path / "last"));
  CHECK_THROWS(score_of(folder.path / "none"));
}

}  // namespace
}  // namespace troupe
