#include "algorithms/language_models/grpo/prompt_source.hpp"

#include <set>

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

}  // namespace
}  // namespace troupe
