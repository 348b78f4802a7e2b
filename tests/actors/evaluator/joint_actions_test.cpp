#include "actors/evaluator/joint_actions.hpp"

#include "tests/test.hpp"

namespace troupe {
namespace {

env_spec spec_of(std::vector<space> actions, bool vary = false) {
  env_spec spec{.id = "Game-v0", .agents_vary = vary};
  for (std::size_t i = 0; i < actions.size(); ++i) {
    spec.agents.push_back({"a" + std::to_string(i), spaces::box(0, 1, {1}), std::move(actions[i])});
  }
  return with_joint_spaces(std::move(spec));
}

void add(joint_actions& to, const std::vector<float>& before,
         const std::vector<std::int64_t>& choices) {
  to.add(before, choices);
}

using cells = std::vector<std::vector<std::string>>;

TEST_CASE("joint actions: shares, with the last agent's choice changing fastest") {
  const auto spec = spec_of({spaces::discrete(2), spaces::discrete(3, 5)});
  joint_actions counted(spec);
  REQUIRE(counted.counts());
  CHECK(counted.shares().empty());
  const std::vector<float> seen(2);
  add(counted, seen, {1, 5});
  add(counted, seen, {1, 5});
  add(counted, seen, {0, 7});
  add(counted, seen, {1, 6});
  const auto shares = counted.shares();
  CHECK(shares == std::vector<double>{0, 0, 0.25, 0.5, 0.25, 0});
  CHECK(joint_action_name(spec, 2) == "0-7");
  CHECK(joint_action_name(spec, 3) == "1-5");
  const auto table = table_of(spec, shares);
  CHECK(table.columns == std::vector<std::string>{"a0 / a1", "5", "6", "7"});
  CHECK(table.rows == cells{{"0", "0.0 %", "0.0 %", "25.0 %"}, {"1", "50.0 %", "25.0 %", "0.0 %"}});
}

TEST_CASE("joint actions: with three agents a list of those that occurred") {
  const auto spec = spec_of({spaces::discrete(2), spaces::discrete(2), spaces::discrete(2)});
  joint_actions counted(spec);
  const std::vector<float> seen(3);
  add(counted, seen, {0, 1, 1});
  add(counted, seen, {1, 0, 0});
  add(counted, seen, {1, 0, 0});
  add(counted, seen, {1, 0, 0});
  const auto table = table_of(spec, counted.shares());
  CHECK(table.columns == std::vector<std::string>{"a0-a1-a2", "steps"});
  CHECK(table.rows == cells{{"1-0-0", "75.0 %"}, {"0-1-1", "25.0 %"}});
}

TEST_CASE("joint actions: steps in which an agent does not act have none") {
  joint_actions counted(spec_of({spaces::discrete(2), spaces::discrete(2)}, true));
  add(counted, {0, 0, 1, 0}, {1, 0});
  CHECK(counted.shares().empty());
  add(counted, {0, 0, 1, 1}, {1, 0});
  CHECK(counted.shares() == std::vector<double>{0, 0, 1, 0});
}

TEST_CASE("joint actions: only those of agents with one choice each, and not too many") {
  const space choice = spaces::discrete(2);
  CHECK_FALSE(joint_actions(spec_of({choice, spaces::box(0, 1, {1})})).counts());
  CHECK_FALSE(joint_actions(spec_of({choice, spaces::multi_discrete({2, 2})})).counts());
  CHECK_FALSE(joint_actions(spec_of({spaces::discrete(6), spaces::discrete(7)})).counts());
  CHECK(joint_actions(spec_of({spaces::discrete(6), spaces::discrete(6)})).counts());
  CHECK_FALSE(joint_actions(env_spec{.id = "Alone-v0", .action_space = choice}).counts());
}

}  // namespace
}  // namespace troupe
