#include "actors/worlds/scripted_policies.hpp"

#include <algorithm>
#include <set>

#include "actors/worlds/mpe/scripted.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

struct always_two final : scripted_policy {
  void act(const agent_sight&, action_random&, std::span<std::int64_t> choices,
           std::span<float>) override {
    choices[0] = 2;
  }
};

}  // namespace

TEST_CASE("scripted policies: random draws every allowed choice and no other") {
  const auto policy = make_scripted_policy(
      {.name = "random", .actions = spaces::tuple({spaces::discrete(3), spaces::box(2, 5, {1})})});
  action_random random(1);
  std::set<std::int64_t> seen;
  const std::vector<float> mask{1, 0, 1};
  for (int i = 0; i < 200; ++i) {
    std::int64_t choice = -1;
    float number = 0;
    policy->act({{}, mask}, random, {&choice, 1}, {&number, 1});
    seen.insert(choice);
    CHECK(number >= 2);
    CHECK(number <= 5);
  }
  CHECK(seen == std::set<std::int64_t>{0, 2});
}

TEST_CASE("scripted policies: those of an environment take its options") {
  const std::string two_adversaries = R"({"num_adversaries": 2})";
  const simple_tag_options options{.adversaries = 2};
  const auto policy = make_scripted_policy({.name = "simple_tag.runner",
                                            .actions = spaces::discrete(5),
                                            .env_options = two_adversaries});
  action_random random(1);
  // velocity, position, two landmarks, two adversaries: [4 + 4 + 4]
  std::vector<float> obs(12, 0.0F);
  obs[8] = 0.3F;
  obs[9] = 0.1F;
  obs[10] = -0.2F;
  std::int64_t choice = -1;
  policy->act({obs, {}}, random, {&choice, 1}, {});
  CHECK(choice == scripted_runner(obs, options));
  CHECK(choice == 2);  // to the right, away from the nearest
  obs.push_back(0);
  CHECK_THROWS_WITH(
      policy->act({obs, {}}, random, {&choice, 1}, {}),
      "scripted policy \"simple_tag.runner\": expected observations of 12 numbers, got "
      "13");
}

TEST_CASE("scripted policies: a program registers its own, once") {
  register_scripted_policy(
      "always_two", [](const scripted_policy_request&) { return std::make_unique<always_two>(); });
  CHECK(std::ranges::count(known_scripted_policies(), "always_two") == 1);
  CHECK_THROWS_WITH(register_scripted_policy("always_two", nullptr),
                    "scripted policy \"always_two\": the name is taken");
  CHECK_THROWS_WITH(make_scripted_policy({.name = "allways_two", .actions = {}}),
                    Catch::StartsWith("scripted policy \"allways_two\": expected one of "));
  CHECK_THROWS_WITH(
      make_scripted_policy({.name = "simple_tag.chaser", .actions = spaces::multi_binary({5})}),
      Catch::Contains("expected agents with actions of Discrete or Box, got MultiBinary"));
}

TEST_CASE("scripted policies: a rule's choice is the greatest number of a Box") {
  const auto chosen =
      make_scripted_policy({.name = "simple_tag.chaser", .actions = spaces::discrete(5)});
  const auto given =
      make_scripted_policy({.name = "simple_tag.chaser", .actions = spaces::box(0, 1, {5})});
  action_random random(1);
  for (int t = 0; t < 20; ++t) {
    std::vector<float> obs(16);
    random.fill_normal(obs);
    std::int64_t choice = -1;
    std::vector<float> floats(5, 7.0f), expected(5, 0.0f);
    chosen->act({obs, {}}, random, {&choice, 1}, {});
    given->act({obs, {}}, random, {}, floats);
    expected.at(static_cast<std::size_t>(choice)) = 1.0f;
    CHECK(floats == expected);
  }
}

}  // namespace troupe
