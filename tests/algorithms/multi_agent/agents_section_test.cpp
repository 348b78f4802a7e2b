#include "algorithms/multi_agent/agents_section.hpp"

#include "actors/environments/agent_layout.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

env_spec with_agents(const std::vector<std::string>& names) {
  env_spec spec{.id = "Tag-v0"};
  for (const auto& name : names) {
    spec.agents.push_back({name, spaces::box(0, 1, {1}), spaces::discrete(2)});
  }
  return with_joint_spaces(spec);
}

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("policy_of_agents: agents of one kind share a policy unless each has its own") {
  const auto spec = with_agents({"adversary_0", "adversary_1", "agent_0", "7", "left"});
  CHECK(policy_of_agents({}, spec) == names{"adversary", "adversary", "agent", "7", "left"});
  CHECK(policy_of_agents({.share = false}, spec) ==
        names{"adversary_0", "adversary_1", "agent_0", "7", "left"});
}

TEST_CASE("policy_of_agents: patterns choose the policies") {
  const auto spec = with_agents({"chaser_0", "chaser_1", "runner"});
  CHECK(policy_of_agents({.policies = {R"({"chaser_*": "chaser", "runner": "prey"})"}}, spec) ==
        names{"chaser", "chaser", "prey"});
  CHECK(policy_of_agents({.policies = {R"({"*": "all"})"}}, spec) == names{"all", "all", "all"});
}

TEST_CASE("policy_of_agents: * and ? alone have a meaning in patterns") {
  const auto spec = with_agents({"agent[0]", "agent[1]", R"(a\b)"});
  CHECK(policy_of_agents({.policies = {R"({"agent[?]": "x", "a\\b": "y"})"}}, spec) ==
        names{"x", "x", "y"});
  CHECK(policy_of_agents({.policies = {R"({"agent[0]": "x", "*1]": "y"})"}},
                         with_agents({"agent[0]", "agent[1]"})) == names{"x", "y"});
}

TEST_CASE("policy_of_agents: what does not cover each agent once is named") {
  const auto spec = with_agents({"chaser_0", "runner"});
  const auto refused = [&](const std::string& patterns) {
    return testing::message_of<std::invalid_argument>(
        [&] { policy_of_agents({.policies = {patterns}}, spec); });
  };
  const std::string by = " by Tag-v0, whose agents are \"chaser_0\", \"runner\"";
  CHECK(refused(R"({"*": "a", "walker_*": "b"})") ==
        "agents.policies: expected patterns that cover an agent, got \"walker_*\", which covers "
        "none" +
            by);
  CHECK(
      refused(R"({"*": "a", "runner": "b"})") ==
      "agents.policies: expected one pattern for each agent, got two for \"runner\": \"runner\" is "
      "the second" +
          by);
  CHECK(refused(R"({"chaser_*": "a"})") ==
        "agents.policies: expected a pattern that covers \"runner\", got none" + by);
  CHECK(
      refused("{\"*\": \"" + std::string(257, 'p') + "\"}") ==
      "agents.policies: expected the name of a policy, of at most 256 bytes, for \"*\", got one of "
      "257 bytes" +
          by);
  CHECK(refused(R"({"*": 3})") ==
        "agents.policies: expected the name of a policy for \"*\", got 3" + by);
  CHECK_THROWS_WITH(policy_of_agents({.frozen = {"prey"}}, spec),
                    Catch::StartsWith("agents.frozen: expected policies that play an agent of "
                                      "Tag-v0, got \"prey\""));
}

}  // namespace troupe
