#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/rollout_writer.hpp"

#include "actors/environments/vector_env.hpp"
#include "actors/networks/shape_of.hpp"
#include "algorithms/losses/gae.hpp"
#include "tests/algorithms/multi_agent/leaving.hpp"
#include "tests/algorithms/multi_agent/returning.hpp"
#include "tests/algorithms/multi_agent/test_worlds.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using testing::meeting;
using testing::turns;

/// What a policy answers for `rows` rows: the number of the row as its log-probability and value.
act_reply reply_for(std::size_t rows, std::int64_t choice, std::int64_t version) {
  act_reply reply;
  reply.discrete.assign(rows, choice);
  for (std::size_t i = 0; i < rows; ++i) {
    reply.log_prob.push_back(static_cast<float>(i));
    reply.value.push_back(0);
  }
  reply.version = version;
  return reply;
}

/// A rollout of T steps in which every agent chooses `choice`.
template <class World>
rollout rollout_of(std::int64_t T, std::size_t B, const std::vector<std::string>& policies,
                   reward_sharing sharing = {}, std::int64_t choice = 1, bool limits_end = false) {
  vector_env<World> worlds(B);
  const auto spec = worlds.spec();
  const auto shape = joint_shape(spec, policies, {.agent_ids = false});
  const agent_rows rows(shape, spec.action_space);
  rollout_writer writer(rows, T, static_cast<std::int64_t>(B),
                        {.sharing = sharing, .limits_end = limits_end});
  policy_rows seen(rows, worlds.reset(1).obs);
  for (std::int64_t t = 0; t < T; ++t) {
    std::vector<act_reply> acted;
    for (std::size_t p = 0; p < rows.policies(); ++p) {
      acted.push_back(reply_for(B * rows.agents_of(p).size(), choice, 10 + t));
    }
    env_actions actions;
    actions.discrete.assign(B * spec.agents.size(), choice);
    const auto after = worlds.step(actions);
    const policy_rows next(rows, after.obs);
    writer.add(t, 0, seen, acted, after, next);
    seen = next;
  }
  auto made = writer.finish({&seen, 1});
  for (auto& of : made.policies) {
    of.bootstrap_value.assign(static_cast<std::size_t>(of.columns), 0);
    of.final_value.assign(of.cuts.size(), 0);
  }
  CHECK_NOTHROW(check(made, shape));
  return made;
}

std::vector<float> column_of(const std::vector<float>& numbers, std::size_t columns,
                             std::size_t index) {
  std::vector<float> one;
  for (auto i = index; i < numbers.size(); i += columns) one.push_back(numbers[i]);
  return one;
}
std::vector<int> column_of(const std::vector<std::uint8_t>& flags, std::size_t columns,
                           std::size_t index) {
  std::vector<int> one;
  for (auto i = index; i < flags.size(); i += columns) one.push_back(flags[i]);
  return one;
}

}  // namespace

TEST_CASE("rollout_writer: an agent that comes back after its end has another episode") {
  // In the second case an agent's part lasts until all have ended, unless it comes back.
  const auto weight = GENERATE(0.0, 0.5);
  const auto made = rollout_of<testing::returning>(6, 1, {"p", "p"}, {.weight = weight});
  const auto& of = made.policies.at(0);
  const auto rows = weight > 0 ? 6 : 5;
  CHECK(std::ranges::count(column_of(of.valid, 2, 1), 1) == rows);
  const auto rewards = column_of(of.reward, 2, 1);
  const auto ended = column_of(of.terminated, 2, 1);
  for (int i = 0; i < rows; ++i)
    CHECK(rewards[std::size_t(i)] == (weight > 0 && i == 2 ? 0.5F : 1.0F));
  CHECK(std::vector(ended.begin(), ended.begin() + rows) ==
        (weight > 0 ? std::vector<int>{0, 0, 1, 0, 0, 1} : std::vector<int>{0, 1, 0, 0, 1}));
}

TEST_CASE("rollout_writer: agents that always act have a row for each step") {
  const auto made = rollout_of<meeting>(10, 3, {"walker", "walker"});
  REQUIRE(made.policies.size() == 1);
  const auto& of = made.policies[0];
  CHECK(of.steps == 10);
  CHECK(of.columns == 6);
  CHECK(std::ranges::count(of.valid, 1) == 60);
  CHECK(column_of(of.truncated, 6, 4) == std::vector<int>{0, 0, 0, 0, 0, 0, 0, 1, 0, 0});
  CHECK(of.cuts.size() == 6);
  CHECK(made.episodes.size() == 3);
  CHECK(made.episodes[0].agent_returns.size() == 2);
  CHECK(column_of(of.log_prob, 6, 4) == std::vector<float>(10, 4.0f));
  CHECK(made.version == 10);
  CHECK(made.last_version == 19);
}

TEST_CASE("rollout_writer: a time limit counts as an end where it shall") {
  const auto made = rollout_of<meeting>(10, 3, {"walker", "walker"}, {}, 1, true);
  const auto& of = made.policies[0];
  CHECK(column_of(of.terminated, 6, 4) == std::vector<int>{0, 0, 0, 0, 0, 0, 0, 1, 0, 0});
  CHECK(column_of(of.truncated, 6, 4) == std::vector<int>(10, 0));
  CHECK(of.cuts.empty());
  // An agent that its own limit cuts off gets its share of the reward until the episode ends.
  const auto shared = rollout_of<testing::leaving>(5, 1, {"p", "p", "p"}, {.weight = 1}, 1, true);
  CHECK(column_of(shared.policies[0].after_end, 3, 0) == std::vector<int>{0, 0, 1, 1, 1});
  CHECK(column_of(shared.policies[0].terminated, 3, 0) == std::vector<int>{0, 0, 0, 0, 1});
  CHECK(shared.policies[0].cuts.empty());
}

TEMPLATE_TEST_CASE("rollout_writer: a policy of all agents has the environment's rewards and ends",
                   "", meeting, testing::leaving) {
  constexpr std::int64_t T = 12, B = 3;
  vector_env<TestType> worlds(B);
  const auto spec = worlds.spec();
  const auto shape = shape_of(spec);
  const agent_rows rows(shape, spec.action_space);
  rollout_writer writer(rows, T, B);
  policy_rows seen(rows, worlds.reset(1).obs);
  std::vector<float> rewards;
  std::vector<std::uint8_t> terminated, truncated;
  for (std::int64_t t = 0; t < T; ++t) {
    // In the first environment all agents choose alike.
    act_reply reply;
    for (std::size_t i = 0; i < B * spec.agents.size(); ++i) {
      reply.discrete.push_back(i < spec.agents.size() ? 1 : static_cast<std::int64_t>(i % 3));
    }
    reply.log_prob.assign(B, 0.0f);
    reply.value.assign(B, 0.0f);
    const auto after = worlds.step({.discrete = reply.discrete});
    rewards.insert(rewards.end(), after.reward.begin(), after.reward.end());
    terminated.insert(terminated.end(), after.terminated.begin(), after.terminated.end());
    truncated.insert(truncated.end(), after.truncated.begin(), after.truncated.end());
    const policy_rows next(rows, after.obs);
    writer.add(t, 0, seen, {&reply, 1}, after, next);
    seen = next;
  }
  const auto made = writer.finish({&seen, 1});
  const auto& of = made.policies.at(0);
  CHECK(of.columns == B);
  CHECK(of.reward == rewards);
  CHECK(of.terminated == terminated);
  CHECK(of.truncated == truncated);
  CHECK(of.cuts.size() == static_cast<std::size_t>(std::ranges::count(truncated, 1)));
  CHECK_FALSE(of.cuts.empty());
  CHECK(std::ranges::count(of.valid, 1) == T * B);
}

TEST_CASE("rollout_writer: each policy has the agents that it plays") {
  const auto made = rollout_of<meeting>(4, 2, {"a", "b"});
  const auto shared = rollout_of<meeting>(4, 2, {"a", "a"});
  REQUIRE(made.policies.size() == 2);
  for (std::size_t agent = 0; agent < 2; ++agent) {
    for (std::size_t world = 0; world < 2; ++world) {
      CHECK(column_of(made.policies[agent].reward, 2, world) ==
            column_of(shared.policies[0].reward, 4, 2 * world + agent));
    }
  }
}

TEST_CASE("rollout_writer: an agent that acts in turn has its steps one after another") {
  const auto made = rollout_of<turns>(turns::count + 5, 1, {"p", "p", "p"});
  const auto& of = made.policies[0];
  REQUIRE(of.columns == 3);
  // Its own step is worth 1 and 10, which come in the next two steps.
  for (std::size_t player = 0; player < 3; ++player) {
    CAPTURE(player);
    const auto rewards = column_of(of.reward, 3, player);
    const auto ended = column_of(of.terminated, 3, player);
    const auto valid = column_of(of.valid, 3, player);
    CHECK(std::vector(rewards.begin(), rewards.begin() + 3) == std::vector<float>(3, 11.0f));
    CHECK(ended[3] == 1);
    CHECK(std::vector(valid.begin(), valid.begin() + 4) == std::vector<int>(4, 1));
  }
  // The last steps of an episode get what is left of their rewards.
  CHECK(column_of(of.reward, 3, 0)[3] == 11);
  CHECK(column_of(of.reward, 3, 1)[3] == 1);
  CHECK(column_of(of.reward, 3, 2)[3] == 0);
  // Of the second episode five steps were taken; player 2 is next, so only its step is complete,
  // and it goes on with the value of what it sees now.
  CHECK(column_of(of.valid, 3, 0)[4] == 1);
  CHECK(column_of(of.valid, 3, 0)[5] == 0);
  CHECK(column_of(of.valid, 3, 1)[4] == 1);
  CHECK(column_of(of.valid, 3, 1)[5] == 0);
  CHECK(column_of(of.truncated, 3, 2)[4] == 1);
  REQUIRE(of.cuts.size() == 1);
  CHECK(of.cuts[0].step == 4);
  CHECK(of.cuts[0].index == 2);
  CHECK(of.final_obs[0] == 5);
}

TEST_CASE("rollout_writer: an agent that has ended gets its share until the episode ends for all") {
  using testing::leaving;
  // agent_1 ends by itself with step 2, and the episode is cut off with step 4. All choose alike,
  // so those that are there get 1 each.
  const auto made = rollout_of<leaving>(7, 1, {"p", "p", "p"}, {.weight = 1});
  const auto& of = made.policies[0];
  const auto after = [&](std::size_t agent) { return column_of(of.after_end, 3, agent); };
  CHECK(after(1) == std::vector<int>{0, 0, 0, 1, 1, 0, 0});
  const auto rewards = column_of(of.reward, 3, 1);
  const float third = 1.0f / 3;
  for (std::size_t t = 0; t < 7; ++t) {
    CHECK(rewards[t] == Approx(t == 2 ? 2 * third : t == 3 || t == 4 ? third : 1));
  }
  CHECK(column_of(of.terminated, 3, 1) == std::vector<int>(7, 0));
  CHECK(column_of(of.truncated, 3, 1) == std::vector<int>{0, 0, 0, 0, 1, 0, 0});
  CHECK(column_of(of.valid, 3, 1) == std::vector<int>(7, 1));
  // An agent that was cut off has the value of what it saw last, and no rows after it.
  CHECK(after(0) == std::vector<int>(7, 0));
  CHECK(column_of(of.truncated, 3, 0)[1] == 1);
  // The return of its last own step has what its team gets later.
  const auto numbers = [](const auto& from) {
    return at::tensor(std::vector<float>(from.begin(), from.end())).view({7, 3});
  };
  const auto targets = gae({.reward = numbers(of.reward),
                            .value = at::zeros({7, 3}),
                            .terminated = numbers(of.terminated).to(at::kBool),
                            .truncated = numbers(of.truncated).to(at::kBool),
                            .final_value = at::zeros({7, 3}),
                            .bootstrap_value = at::zeros({3}),
                            .valid = numbers(of.valid).to(at::kBool)},
                           {.gamma = 0.5, .lambda = 1});
  CHECK(targets.returns[2][1].item<double>() == Approx((2 + 0.5 + 0.25) / 3));

  for (const auto& without : {reward_sharing{.weight = 1, .after_end = false}, reward_sharing()}) {
    const auto ends = rollout_of<leaving>(7, 1, {"p", "p", "p"}, without);
    CHECK(ends.policies[0].after_end.empty());
    CHECK(column_of(ends.policies[0].terminated, 3, 1)[2] == 1);
    // The next row is of the next episode.
    CHECK(column_of(ends.policies[0].valid, 3, 1) == std::vector<int>{1, 1, 1, 1, 1, 0, 0});
  }
}

TEST_CASE("rollout_writer: an agent that has ended goes on behind the end of the rollout") {
  const auto made = rollout_of<testing::leaving>(4, 2, {"p", "p", "p"}, {.weight = 1});
  const auto& of = made.policies[0];
  CHECK(column_of(of.after_end, 6, 4) == std::vector<int>{0, 0, 0, 1});
  CHECK(column_of(of.terminated, 6, 4) == std::vector<int>(4, 0));
  CHECK(column_of(of.truncated, 6, 4) == std::vector<int>(4, 0));  // bootstrap_obs goes on
}

TEST_CASE("rollout_writer: rewards are shared by their weight") {
  const auto own = rollout_of<turns>(6, 1, {"p", "q", "q"});
  const auto half = rollout_of<turns>(6, 1, {"p", "q", "q"}, {.weight = 0.5});
  const auto of_policy =
      rollout_of<turns>(6, 1, {"p", "q", "q"}, {.weight = 1, .team = reward_team::policy});
  CHECK(own.policies[1].reward[0] == 11);
  // Before player 0 acts again in step 3, all get 1 in step 1 and 11 in step 2.
  CHECK(half.policies[0].reward[0] == Approx(0.5 * 11 + 0.5 * (1.0 + 11.0) / 3));
  CHECK(of_policy.policies[0].reward[0] == 11);
  // Player 1 acts in steps 1 and 4: its team has 1 in step 2, 11 in step 3.
  CHECK(of_policy.policies[1].reward[0] == Approx(6));
}

}  // namespace troupe
