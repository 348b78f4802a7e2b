#include "actors/networks/joint_shape.hpp"

#include "actors/environments/agent_layout.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

env_spec three_agents(bool vary = false, bool masks = false) {
  const space small = spaces::box(-9, 9, {1}), large = spaces::box(-9, 9, {2});
  return with_joint_spaces({.id = "Three-v0",
                            .agents = {{"chaser_0", small, spaces::discrete(2, 7)},
                                       {"runner", large, spaces::box(-1, 1, {2})},
                                       {"chaser_1", small, spaces::discrete(2, 7)}},
                            .state_space = spaces::box(-9, 9, {1}),
                            .agents_vary = vary,
                            .action_masks = masks});
}

const std::vector<std::string> by_kind = {"chaser", "runner", "chaser"};

using floats = std::vector<float>;

floats gathered(const agent_rows& rows, std::size_t policy, const floats& joint,
                std::size_t environments) {
  floats to(environments * rows.agents_of(policy).size() *
            static_cast<std::size_t>(rows.shape_of_policy(policy).obs_size));
  rows.gather(policy, joint, to);
  return to;
}

}  // namespace

TEST_CASE("joint_shape: a row has the observation, the agent's number and what the critic sees") {
  const auto spec = three_agents();
  const auto shape = joint_shape(spec, by_kind, {.critic = central_input::state});
  REQUIRE(shape.policies.size() == 2);
  CHECK(shape.policies[0].name == "chaser");
  CHECK(shape.policies[0].obs_size == 1 + 2 + 1);
  CHECK(shape.policies[0].critic_only == 1);
  CHECK(shape.policies[1].obs_size == 2 + 1);  // a policy of one agent needs no number
  CHECK(shape_of(shape.policies[1]).actor_inputs() == 2);
  const agent_rows rows(shape, spec.action_space);
  const floats joint{1, 2, 3, 4, 5, 10, 20, 30, 40, 50};
  CHECK(gathered(rows, 0, joint, 2) == floats{1, 1, 0, 5, 4, 0, 1, 5, 10, 1, 0, 50, 40, 0, 1, 50});
  CHECK(gathered(rows, 1, joint, 2) == floats{2, 3, 5, 20, 30, 50});
}

TEST_CASE("joint_shape: the critic can see the observations of all") {
  const auto spec = three_agents();
  const auto shape =
      joint_shape(spec, by_kind, {.agent_ids = false, .critic = central_input::observations});
  const agent_rows rows(shape, spec.action_space);
  CHECK(gathered(rows, 0, {1, 2, 3, 4, 5}, 1) == floats{1, 1, 2, 3, 4, 4, 1, 2, 3, 4});
}

TEST_CASE("joint_shape: masks and who acts come from the row") {
  const auto spec = three_agents(true, true);
  const auto shape = joint_shape(spec, by_kind, {.agent_ids = false});
  const agent_rows rows(shape, spec.action_space);
  //                 obs         state active   masks
  const floats joint{1, 2, 3, 4, 5, 1, 0, 1, 1, 0, 0, 1};
  CHECK(shape.policies[0].mask_size == 2);
  CHECK(gathered(rows, 0, joint, 1) == floats{1, 1, 0, 4, 0, 1});
  std::vector<std::uint8_t> active(2);
  rows.gather_active(0, joint, active);
  CHECK(active == std::vector<std::uint8_t>{1, 1});
  active.resize(1);
  rows.gather_active(1, joint, active);
  CHECK(active == std::vector<std::uint8_t>{0});
}

TEST_CASE("agent_rows: actions go back to their agents, in the environment's own numbers") {
  const auto spec = three_agents();
  const agent_rows rows(joint_shape(spec, by_kind, {}), spec.action_space);
  std::vector<std::int64_t> integers(4);
  floats numbers(4);
  rows.scatter(0, std::vector<std::int64_t>{0, 1, 1, 0}, {}, integers, numbers);
  rows.scatter(1, {}, floats{.1F, .2F, .3F, .4F}, integers, numbers);
  CHECK(integers == std::vector<std::int64_t>{7, 8, 8, 7});
  CHECK(numbers == floats{.1F, .2F, .3F, .4F});
}

TEST_CASE("joint_shape: what does not fit is named") {
  const auto spec = three_agents();
  CHECK_THROWS_WITH(joint_shape(spec, {"one", "one", "one"}, {}),
                    "Three-v0: policy \"one\": expected agents with equal observation spaces, got "
                    "Box(-9.0, 9.0, (1,), float32) for \"chaser_0\" and Box(-9.0, 9.0, (2,), "
                    "float32) for \"runner\"");
  auto stateless = spec;
  stateless.state_space.reset();
  CHECK_THROWS_WITH(joint_shape(stateless, by_kind, {.critic = central_input::state}),
                    Catch::StartsWith("Three-v0: expected an environment with a global state"));
  CHECK_THROWS_WITH(joint_shape({.id = "Alone-v0"}, {}, {}),
                    "Alone-v0: expected an environment with several agents, got one without");
  auto shape = joint_shape(spec, by_kind, {});
  shape.agents[1].obs_begin = 1000;
  CHECK_THROWS_WITH(agent_rows(shape, spec.action_space),
                    Catch::Contains("agent \"runner\"") && Catch::Contains("inside"));
}

}  // namespace troupe
