#include "algorithms/language_models/grpo/prompt_source.hpp"

#include <cmath>
#include <map>
#include <set>

#include "actors/checkpoint/state.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

std::vector<llm::problem> numbered(int count) {
  std::vector<llm::problem> made;
  for (int i = 0; i < count; ++i) made.push_back({.question = std::to_string(i)});
  return made;
}

std::vector<prompt_draw> draws_of(std::uint64_t seed, int count) {
  prompt_source source(numbered(50), true, seed);
  std::vector<prompt_draw> drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(source.next());
  return drawn;
}

TEST_CASE("prompt_source: neighbouring seeds share no seed of an answer, at any distance") {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const auto& one : draws_of(seed, 500)) seen.insert(one.seed);
  }
  CHECK(seen.size() == 5 * 500);
}

TEST_CASE("prompt_source: neighbouring seeds ask in orders that are no shifts of each other") {
  const auto one = draws_of(1, 50), two = draws_of(2, 50);
  for (std::size_t shift = 0; shift < 25; ++shift) {
    CAPTURE(shift);
    int same = 0;
    for (std::size_t i = 0; i + shift < 50; ++i)
      same += one[i + shift].asked.question == two[i].asked.question;
    CHECK(same < 10);
  }
}

TEST_CASE("prompt_source: one that is restored, or begins anew, goes on with the same draws") {
  prompt_source source(numbered(10), true, 3);
  const auto first = source.next();
  const auto saved = source.save();
  const auto second = source.next();
  prompt_source other(numbered(10), true, 3);
  other.restore(saved);
  const auto again = other.next();
  CHECK(again.seed == second.seed);
  CHECK(again.asked.question == second.asked.question);
  source.rewind(3);
  CHECK(source.next().seed == first.seed);
  source.rewind(4);
  CHECK(source.next().seed != first.seed);
}

std::vector<llm::problem> problems(const std::string& name, int count, std::uint64_t level = 0) {
  std::vector<llm::problem> made;
  for (int i = 0; i < count; ++i)
    made.push_back({.question = name + std::to_string(i), .level = level});
  return made;
}

std::vector<prompt_task> three_tasks() {
  return {{.problems = problems("a", 10), .share = 2},
          {.problems = problems("b", 3), .share = 1},
          {.problems = std::vector<llm::problem>(1), .share = 1}};
}

TEST_CASE("prompt_source: several tasks have their shares, at any time") {
  prompt_source source(three_tasks(), {.seed = 7});
  std::map<std::uint64_t, int> count;
  for (int i = 1; i <= 400; ++i) {
    const auto drawn = source.next();
    ++count[drawn.task];
    CHECK(std::abs(count[0] - i * 0.5) <= 1);
    CHECK(std::abs(count[1] - i * 0.25) <= 1);
    CHECK(drawn.asked.question.substr(0, 1) == (drawn.task == 0   ? "a"
                                                : drawn.task == 1 ? "b"
                                                                  : ""));
  }
  CHECK(source.progress().at(0).drawn == 200);
  CHECK_THROWS_WITH(prompt_source({{.problems = problems("a", 1), .share = 0}}, {}),
                    Catch::Contains("a share above 0, got 0"));
}

TEST_CASE("prompt_source: each epoch of a task has each of its problems once") {
  prompt_source source(three_tasks(), {.seed = 7});
  std::map<std::string, int> times;
  for (int i = 0; i < 60; ++i) ++times[source.next().asked.question];
  for (int i = 0; i < 10; ++i) CHECK(times["a" + std::to_string(i)] == 3);
  for (int i = 0; i < 3; ++i) CHECK(times["b" + std::to_string(i)] == 5);
}

std::vector<prompt_task> leveled() {
  std::vector<llm::problem> all;
  for (std::uint64_t level = 0; level < 3; ++level)
    for (auto& each : problems("l" + std::to_string(level), 4, level)) all.push_back(each);
  return {{.problems = all,
           .curriculum = loops::curriculum_options{
               .levels = 3, .promote_at = 0.75, .window = 8, .min_episodes = 8}}};
}

TEST_CASE("prompt_source: a curriculum asks a level until enough of its answers are right") {
  prompt_source source(leveled(), {.seed = 7});
  CHECK(source.next().asked.level == 0);
  source.answered(0, 0, 8, 5);
  CHECK(source.next().asked.level == 0);
  source.answered(0, 0, 8, 7);
  CHECK(source.next().asked.level == 1);
  source.answered(0, 0, 8, 8);  // under way when the level changed
  CHECK(source.next().asked.level == 1);
  source.answered(0, 1, 8, 7);
  for (int i = 0; i < 8; ++i) CHECK(source.next().asked.level == 2);
  CHECK(source.progress().at(0).level == 2);
}

TEST_CASE("prompt_source: a saved source goes on with the same prompts") {
  for (auto* make : {&three_tasks, &leveled}) {
    prompt_source source((*make)(), {.seed = 7}), resumed((*make)(), {.seed = 7});
    for (int i = 0; i < 9; ++i) source.next();
    source.answered(0, 0, 8, 8);
    resumed.restore(source.save());
    for (int i = 0; i < 30; ++i) {
      const auto next = source.next(), again = resumed.next();
      CHECK(next.asked.question == again.asked.question);
      CHECK(next.seed == again.seed);
      CHECK(next.task == again.task);
    }
  }
  prompt_source other(problems("a", 10), true, 7);
  CHECK_THROWS_AS(other.restore(prompt_source(three_tasks(), {.seed = 7}).save()), state_error);
}

}  // namespace
}  // namespace troupe
