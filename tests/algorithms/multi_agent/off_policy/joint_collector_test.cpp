// What collectors do with several agents: exploration, rows, own steps.

#include "actors/torch/torch.hpp"

#include "actors/environments/wrappers.hpp"
#include "actors/networks/acting_policies.hpp"
#include "actors/networks/named_tensors.hpp"
#include "algorithms/multi_agent/off_policy/config.hpp"
#include "algorithms/off_policy/collector.hpp"
#include "tests/algorithms/multi_agent/off_policy/departing.hpp"
#include "tests/algorithms/multi_agent/off_policy/two_agents.hpp"
#include "tests/algorithms/multi_agent/returning.hpp"
#include "tests/algorithms/multi_agent/test_worlds.hpp"
#include "tests/runtime/support.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Options for environments of a test, with greedy choices unless `explore` says otherwise.
template <class World>
collector_options options(std::size_t environments, agent_collection agents,
                          epsilon_schedule explore = {.initial = 0, .final = 0}) {
  const auto spec = World().spec();
  std::vector<std::string> policies;
  for (const auto& agent : spec.agents) policies.push_back(agent.name);
  return {
      .environments = [environments] { return std::make_unique<vector_env<World>>(environments); },
      .shape = joint_shape(spec, policies, {}),
      .network = {.hidden = {}, .kind = network_kind::q_values},
      .explore = {.epsilon = explore},
      .gamma = 0.5,
      .agents = std::move(agents)};
}

/// A collector with weights of 0, which like choice 0 best.
std::unique_ptr<collector> collector_of(const collector_options& with,
                                        const service<weight_store>& store) {
  auto made = std::make_unique<collector>(replica_info{}, with, store);
  const auto count = layout_of(with.shape, with.network).count;
  made->update({0, at::zeros({count}), {}});
  return made;
}

std::vector<float> column_of(const std::vector<float>& rows, std::size_t width, std::size_t at) {
  std::vector<float> column;
  for (auto i = at; i < rows.size(); i += width) column.push_back(rows[i]);
  return column;
}

using floats = std::vector<float>;
using numbers = std::vector<std::uint32_t>;

task<> own_steps(system& sys) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  auto with = options<turns>(1, {.own_steps = true});
  auto one = collector_of(with, store);
  const auto made = one->collect(0, turns::count);
  const auto& rows = made.rows;
  REQUIRE(rows.size() == 12);
  CHECK(rows.step == numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(rows.ended.back() == 1);
  REQUIRE(made.episodes.size() == 1);
  CHECK(made.episodes[0].agent_returns.size() == 3);
  const auto width = static_cast<std::size_t>(with.shape.obs_size);
  for (std::size_t t = 0; t < 12; ++t) {
    CAPTURE(t);
    const auto player = t % 3;
    const auto next = static_cast<std::ptrdiff_t>(t * width);
    CHECK(rows.obs[t * width + player] == static_cast<float>(t));
    // Its step is worth 1 and 10 in the two steps that follow, of which there may be fewer.
    CHECK(rows.agent_reward[3 * t + player] == (t <= 9 ? 11.0f : t == 10 ? 1.0f : 0.0f));
    CHECK(rows.agent_terminated[3 * t + player] == (t >= 9 ? 1.0f : 0.0f));
    CHECK(rows.next_obs[static_cast<std::size_t>(next) + player] == std::min(t + 3.0f, 12.0f));
    const auto acts = static_cast<std::size_t>(with.shape.agents[player].active);
    CHECK(rows.next_obs[static_cast<std::size_t>(next) + acts] == (t >= 9 ? 0.0f : 1.0f));
  }
}
TEST_CASE("collector: an agent's transition reaches to the next step in which it acts") {
  play(own_steps);
}

task<> own_steps_go_on(system& sys) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  const auto with = options<turns>(2, {.own_steps = true}, {.initial = 1, .final = 1});
  auto one = collector_of(with, store), other = collector_of(with, store);
  const auto before = one->collect(0, 10);
  CHECK(before.rows.size() == 2 * 8);  // those of the last two steps have begun
  other->restore(one->save());
  const auto a = one->collect(20, 20), b = other->collect(20, 20);
  CHECK(a.rows.size() == 2 * 20);
  CHECK(a.rows.obs == b.rows.obs);
  CHECK(a.rows.choice == b.rows.choice);
  CHECK(a.rows.next_obs == b.rows.next_obs);
  CHECK(a.rows.agent_reward == b.rows.agent_reward);
  CHECK(a.rows.agent_terminated == b.rows.agent_terminated);
  CHECK(a.rows.step == b.rows.step);
  const auto plain = options<turns>(2, {});
  auto another = collector_of(plain, store);
  CHECK_THROWS_AS(another->restore(one->save()), state_error);
}
TEST_CASE("collector: transitions of agents that have begun are saved") { play(own_steps_go_on); }

task<> departing_agents(system& sys) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  for (const bool own : {false, true}) {
    CAPTURE(own);
    const auto with = options<departing>(1, {.own_steps = own});
    auto one = collector_of(with, store);
    const auto made = one->collect(0, 5);
    const auto& rows = made.rows;
    REQUIRE(rows.size() == 5);
    const auto width = static_cast<std::size_t>(with.shape.obs_size);
    const auto acts = [&](const floats& obs, std::size_t agent) {
      return column_of(obs, width, static_cast<std::size_t>(with.shape.agents[agent].active));
    };
    CHECK(acts(rows.obs, 0) == floats{1, 1, 0, 0, 0});
    CHECK(acts(rows.obs, 1) == floats{1, 1, 1, 0, 0});
    // An agent that was cut off has a next value; one whose task has ended has none.
    CHECK(acts(rows.next_obs, 0) == floats{1, 1, 0, 0, 0});
    CHECK(acts(rows.next_obs, 1) == floats{1, 1, 0, 0, 0});
    CHECK(acts(rows.next_obs, 2) == floats{1, 1, 1, 1, 0});
    const auto ended = [&](std::size_t agent) {
      return column_of(rows.agent_terminated, 3, agent);
    };
    CHECK(ended(0)[1] == 0);
    CHECK(ended(1)[2] == 1);
    CHECK(ended(2) == floats{0, 0, 0, 0, 1});
    CHECK(rows.terminated == floats{0, 0, 0, 0, 1});
    // All choose 0, which is right in steps 0 and 3.
    CHECK(column_of(rows.agent_reward, 3, 0) == floats{1, 0, 0, 0, 0});
    CHECK(column_of(rows.agent_reward, 3, 2) == floats{1, 0, 0, 1, 0});
    CHECK(rows.reward[0] == 1);
    CHECK(rows.reward[3] == Approx(1.0 / 3));
    CHECK(rows.discount == floats(5, 0.5f));
  }
}
TEST_CASE("collector: rows say which agents have ended, and which were cut off") {
  play(departing_agents);
}

task<> limit_of_turns(system& sys) {
  using world = endless<true>;
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  for (const bool own : {false, true}) {
    CAPTURE(own);
    const auto with = options<world>(1, {.own_steps = own});
    auto one = collector_of(with, store);
    const auto rows = one->collect(0, 5).rows;
    REQUIRE(rows.size() == 5);
    const auto width = static_cast<std::size_t>(with.shape.obs_size);
    const auto acts_at_the_end = [&](std::size_t agent, std::size_t row) {
      const auto place = static_cast<std::size_t>(with.shape.agents[agent].active);
      return rows.next_obs[row * width + place];
    };
    CHECK(rows.ended == std::vector<std::uint8_t>{0, 0, 0, 0, 2});
    CHECK(column_of(rows.agent_terminated, 3, 0) == floats(5, 0.0f));
    // Player 0 has made the last step, so it is the turn of player 1. The own steps of both go on,
    // which are in rows 4 and 3.
    CHECK(acts_at_the_end(0, 4) == (own ? 1 : 0));
    CHECK(acts_at_the_end(1, own ? 3 : 4) == 1);
    CHECK(acts_at_the_end(world::absent, 4) == 0);
  }
}
TEST_CASE("collector: at a time limit the team goes on with the agents whose turn it is") {
  play(limit_of_turns);
}

task<> rewards_after_the_end(system& sys) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  const auto shares = reward_shares_of({.shared_reward = 1}, options<departing>(1, {}).shape);
  for (const bool after_end : {false, true}) {
    CAPTURE(after_end);
    const auto with = options<departing>(
        1, {.reward_shares = shares, .own_steps = true, .reward_after_end = after_end});
    auto one = collector_of(with, store), other = collector_of(with, store);
    const auto rows = one->collect(0, 5).rows;
    REQUIRE(rows.size() == 5);
    CHECK(rows.step == numbers{0, 1, 2, 3, 4});
    // All choose 0, which is right in steps 0 and 3, when agent_2 alone is left. The discount is
    // 0.5, and agent_1 has ended with step 2.
    CHECK(rows.agent_reward[3 * 2 + 1] == Approx(after_end ? 0.5 / 3 : 0));
    CHECK(rows.agent_terminated[3 * 2 + 1] == 1);
    CHECK(rows.agent_reward[3 * 3 + 2] == Approx(1.0 / 3));
    // A checkpoint in between has what is under way.
    const auto before = one->collect(5, 4).rows;
    CHECK(before.size() == (after_end ? 2 : 4));
    other->restore(one->save());
    const auto a = one->collect(9, 1).rows, b = other->collect(9, 1).rows;
    CHECK(a.size() == (after_end ? 3 : 1));
    CHECK(a.agent_reward == b.agent_reward);
    CHECK(a.agent_terminated == b.agent_terminated);
  }
}
TEST_CASE("collector: the last own step of an agent has what its team gets after its end") {
  play(rewards_after_the_end);
}

task<> comes_back(system& sys) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  const auto shares = reward_shares_of({.shared_reward = 1}, options<returning>(1, {}).shape);
  for (const bool after_end : {false, true}) {
    CAPTURE(after_end);
    const auto with = options<returning>(
        1, {.reward_shares = shares, .own_steps = true, .reward_after_end = after_end});
    const auto rows = collector_of(with, store)->collect(0, 6).rows;
    REQUIRE(rows.size() == 6);
    // The second agent ends with step 2, gets a half of 0.5 in the step without it, and acts again.
    CHECK(column_of(rows.agent_reward, 2, 1)[1] == Approx(after_end ? 1.25 : 1));
    CHECK(column_of(rows.agent_terminated, 2, 1)[1] == 1);
    CHECK(column_of(rows.agent_reward, 2, 1)[3] == 1);
    CHECK(column_of(rows.agent_terminated, 2, 1)[3] == 0);
    CHECK(column_of(rows.agent_terminated, 2, 1)[5] == 1);
  }
}
TEST_CASE("collector: an agent that comes back begins own steps anew") { play(comes_back); }

TEST_CASE("agent_steps: an agent that has ended does not keep later steps waiting for ever") {
  const auto shape = joint_shape(endless<true>().spec(), {"a", "b", "c"}, {});
  agent_results results(shape, {});
  agent_steps steps(0.5);
  const auto row = [&](std::size_t t) {
    std::vector<float> obs(static_cast<std::size_t>(shape.obs_size), 0.0f);
    for (const std::size_t agent : {std::size_t{0}, std::size_t{1}}) {
      const bool acts = agent == 1 || t == 0;  // agent 0 ends with the first step
      obs[static_cast<std::size_t>(shape.agents[agent].active)] = acts ? 1.0f : 0.0f;
    }
    return obs;
  };
  std::vector<agent_steps::joined> complete;
  for (std::size_t t = 0; t < 12; ++t) {
    const auto before = row(t), next = row(t + 1);
    results.take({.terminated = {0},
                  .truncated = {0},
                  .agent_reward = {1, 1, 1},
                  .agent_ended = {static_cast<std::uint8_t>(t == 0), 0, 0}},
                 0, before.data(), next.data());
    for (auto& one : steps.add({.obs = before}, results)) complete.push_back(std::move(one));
  }
  REQUIRE(complete.size() == 12);
  CHECK(complete[0].agent_reward[0] == Approx(2).margin(0.01));  // 1 + 1/2 + 1/4 + ...
  CHECK(complete[0].agent_terminated[0] == 1);
  CHECK(complete[0].agent_terminated[1] == 0);
}

task<> failed_steps(system& sys) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  for (const bool own : {false, true}) {
    auto one = collector_of(options<departing>(1, {.own_steps = own}), store);
    departing::fails_at = 1;
    const auto made = one->collect(0, 2);
    departing::fails_at = -1;
    CHECK(made.rows.size() == 1);
    const auto after = one->collect(2, 5);
    CHECK(after.rows.step == numbers{0, 1, 2, 3, 4});
  }
}
TEST_CASE("collector: a step of several agents that fails gives no transition") {
  play(failed_steps);
}

/// The players of `turns`, whose third step fails once.
class broken_turns final : public environment_wrapper {
 public:
  broken_turns() : environment_wrapper(std::make_unique<turns>()) {}
  env_spec spec() const override { return inner_->spec(); }
  step_result step(action_view action, std::span<float> obs) override {
    if (steps++ == 2) throw std::runtime_error("broken");
    return inner_->step(action, obs);
  }
  static inline int steps = 0;
};

task<> failed_turns(system& sys) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  auto one = collector_of(options<broken_turns>(1, {.own_steps = true}), store);
  const auto made = one->collect(0, 3 + turns::count);
  CHECK(made.rows.step == numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}
TEST_CASE("collector: transitions that an episode had begun are lost with it") {
  play(failed_turns);
}

/// The share of rows in which choices of agent `at` are not 0.
double share_of(const std::vector<std::int64_t>& choices, std::size_t width, std::size_t at) {
  double count = 0;
  for (auto i = at; i < choices.size(); i += width) count += choices[i] != 0;
  return count / static_cast<double>(choices.size() / width);
}

task<> exploring(system& sys) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  const epsilon_schedule half{.initial = 0.5, .final = 0.5};
  auto one = collector_of(options<meeting>(5, {}, half), store);
  const auto choices = one->collect(0, 2000).rows.choice;
  REQUIRE(choices.size() == 20'000);
  // Each agent by itself: 1/3 is expected, with a deviation of 0.0047, and 1/9 of both (0.0031).
  CHECK(share_of(choices, 2, 0) == Approx(1.0 / 3).margin(0.02));
  CHECK(share_of(choices, 2, 1) == Approx(1.0 / 3).margin(0.02));
  double both = 0;
  for (std::size_t i = 0; i < choices.size(); i += 2)
    both += choices[i] != 0 && choices[i + 1] != 0;
  CHECK(both / 10'000 == Approx(1.0 / 9).margin(0.0125));

  auto frozen = collector_of(options<meeting>(5, {.explores = {0, 1}}, half), store);
  const auto others = frozen->collect(0, 200).rows.choice;
  CHECK(share_of(others, 2, 0) == 0);
  CHECK(share_of(others, 2, 1) > 0.2);

  auto starting = options<meeting>(5, {.explores = {0, 1}});
  starting.explore.learning_starts = 500;
  auto begins = collector_of(starting, store);
  const auto first = begins->collect(0, 100).rows.choice;
  CHECK(share_of(first, 2, 0) == 0);
  CHECK(share_of(first, 2, 1) == Approx(2.0 / 3).margin(0.1));
  CHECK(share_of(begins->collect(500, 100).rows.choice, 2, 1) == 0);

  auto scripted = options<meeting>(5, {});
  scripted.shape.policies[0].script = "random";
  auto plays = collector_of(scripted, store);
  const auto played = plays->collect(0, 100).rows.choice;
  CHECK(share_of(played, 2, 0) == Approx(2.0 / 3).margin(0.1));
  CHECK(share_of(played, 2, 1) == 0);
}
TEST_CASE("collector: agents explore each by themselves, and those that learn alone") {
  play(exploring);
}

task<> allowed_choices(system& sys) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  auto with = options<turns>(4, {}, {.initial = 1, .final = 1});
  auto one = collector_of(with, store);
  turns::forbidden = 0;
  const auto rows = one->collect(0, 300).rows;
  CHECK(turns::forbidden == 0);
  const auto width = static_cast<std::size_t>(with.shape.obs_size);
  int chosen[3] = {};
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto choice = rows.choice[3 * row + i];
      const bool acts =
          rows.obs[row * width + static_cast<std::size_t>(with.shape.agents[i].active)] != 0;
      if (!acts) CHECK(choice == 0);
      if (acts) ++chosen[choice];
    }
  }
  CHECK(std::abs(chosen[0] - 600) < 70);  // of 1200, with a deviation of 17
  CHECK(chosen[2] == 0);
}
TEST_CASE("collector: agents choose what is allowed, and nothing when they don't act") {
  play(allowed_choices);
}

/// An agent whose actions are numbered from 5 on.
class numbered final : public multi_agent_environment {
 public:
  env_spec spec() const override {
    const space seen = spaces::box(0, 1, {1});
    return with_joint_spaces(
        {.id = "Numbered-v0",
         .agents = {{"a", seen, spaces::discrete(2, 5)}, {"b", seen, spaces::discrete(3)}}});
  }
  void begin(std::optional<std::uint64_t>, joint_observation obs) override {
    obs[0][0] = obs[1][0] = 0;
  }
  void act(joint_action actions, joint_observation obs, std::span<agent_step> results) override {
    CHECK((actions[0].discrete() == 5 || actions[0].discrete() == 6));
    CHECK(actions[1].discrete() < 3);
    for (std::size_t i = 0; i < 2; ++i) {
      results[i].reward = static_cast<double>(actions[i].discrete());
      results[i].ended = episode_end::terminated;
      obs[i][0] = 0;
    }
  }
};

task<> numbered_actions(system& sys) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  auto one = collector_of(options<numbered>(1, {}, {.initial = 1, .final = 1}), store);
  const auto rows = one->collect(0, 50).rows;
  for (std::size_t row = 0; row < 50; ++row) {
    CHECK(rows.agent_reward[2 * row] == static_cast<float>(rows.choice[2 * row] + 5));
    CHECK(rows.agent_reward[2 * row + 1] == static_cast<float>(rows.choice[2 * row + 1]));
  }
}
TEST_CASE("collector: choices are from 0 on, and an agent's actions from where they start") {
  play(numbered_actions);
}

task<> refused(system& sys) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  auto with = options<meeting>(1, {});
  with.n_step = 2;
  CHECK_THROWS_WITH(collector_of(with, store),
                    Catch::Contains("n_step: expected 1 with several agents, got 2"));
  auto shares = options<meeting>(1, {.reward_shares = {1, 2, 3}});
  CHECK_THROWS_WITH(collector_of(shares, store), Catch::Contains("got 3 numbers"));
}
TEST_CASE("collector: what it can't do with several agents is refused") { play(refused); }

}  // namespace

TEST_CASE("reward_shares_of: own and team's rewards are mixed by their weight") {
  auto shape = two_agents();
  shape.agents.push_back(shape.agents[1]);  // b plays another one
  CHECK(reward_shares_of({}, shape).empty());
  const auto near = [](std::vector<double> found, const std::vector<double>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]));
  };
  const double sixth = 0.5 / 3;
  near(reward_shares_of({.shared_reward = 0.5}, shape),
       {0.5 + sixth, sixth, sixth, sixth, 0.5 + sixth, sixth, sixth, sixth, 0.5 + sixth});
  near(reward_shares_of({.shared_reward = 1, .team = reward_team::policy}, shape),
       {1, 0, 0, 0, 0.5, 0.5, 0, 0.5, 0.5});

  agent_results results(shape, reward_shares_of({.shared_reward = 1}, shape));
  const env_step after{
      .terminated = {0}, .truncated = {0}, .agent_reward = {3, 6, 9}, .agent_ended = {0, 1, 2}};
  const std::vector<float> next(static_cast<std::size_t>(shape.obs_size), 0.0f);
  results.take(after, 0, next.data(), next.data());
  CHECK(results.reward()[0] == Approx(6));
  CHECK(std::ranges::equal(results.terminated(), std::vector<float>{0, 1, 0}));
}

TEST_CASE(
    "agent_results: an agent that the limit cuts off has not terminated, one that is left has") {
  const auto shape = joint_shape(meeting().spec(), {"a", "b"}, {});
  agent_results results(shape, {});
  agent_results limits_end(shape, {}, true);
  const std::vector<float> next(static_cast<std::size_t>(shape.obs_size), 0.0f);
  const auto ends = [&](env_step after) {
    after.agent_reward = {1, 2};
    limits_end.take(after, 0, next.data(), next.data());
    CHECK(limits_end.all_terminated());
    CHECK(std::ranges::equal(limits_end.terminated(), floats{1, 1}));
    CHECK(std::ranges::equal(limits_end.cut(), std::vector<std::uint8_t>{0, 0}));
    results.take(after, 0, next.data(), next.data());
    return std::vector<float>(results.terminated().begin(), results.terminated().end());
  };
  CHECK(ends({.terminated = {0}, .truncated = {1}, .agent_ended = {2, 2}}) == floats{0, 0});
  CHECK(ends({.terminated = {0}, .truncated = {1}, .agent_ended = {1, 2}}) == floats{1, 0});
  CHECK(ends({.terminated = {1}, .truncated = {0}, .agent_ended = {1, 0}}) == floats{1, 1});
}

TEST_CASE("agent_results: an agent that is cut off goes on, unless another takes its turn") {
  const auto shape = joint_shape(endless<true>().spec(), {"a", "b", "c"}, {});
  agent_results results(shape, {});
  // Which of the three agents act before the step, which are shown to act next, and which of them
  // are in the team's next value, where all that are there are cut off.
  const auto goes_on = [&](std::vector<int> before, std::vector<int> shown) {
    const auto row = [&](const std::vector<int>& acting) {
      std::vector<float> obs(static_cast<std::size_t>(shape.obs_size), 0.0f);
      for (std::size_t i = 0; i < 3; ++i) {
        obs[static_cast<std::size_t>(shape.agents[i].active)] = static_cast<float>(acting[i]);
      }
      return obs;
    };
    const auto old = row(before), next = row(shown);
    results.take(
        {.terminated = {0}, .truncated = {1}, .agent_reward = {0, 0, 0}, .agent_ended = {2, 2, 2}},
        0, old.data(), next.data());
    std::vector<int> found;
    for (const auto& agent : shape.agents) {
      found.push_back(results.next()[static_cast<std::size_t>(agent.active)] != 0);
    }
    return found;
  };
  CHECK(goes_on({1, 0, 0}, {0, 1, 0}) == std::vector<int>{0, 1, 0});  // a turn that passes
  CHECK(goes_on({1, 0, 0}, {1, 0, 0}) == std::vector<int>{1, 0, 0});  // another turn
  CHECK(goes_on({1, 1, 0}, {1, 1, 0}) == std::vector<int>{1, 1, 0});  // one is absent
  CHECK(goes_on({1, 1, 0}, {0, 0, 0}) == std::vector<int>{1, 1, 0});  // the environment's own limit
  CHECK(goes_on({1, 1, 1}, {0, 1, 1}) == std::vector<int>{1, 1, 1});  // that of one agent
}

TEST_CASE(
    "agent_steps: a transition's next mask is that of the step in which its agent acts again") {
  register_test_worlds();
  const auto shape = joint_shape(turns().spec(), {"a", "b", "c"}, {});
  agent_results results(shape, {});
  agent_steps steps;
  // In row t player t % 3 acts, and may choose nothing but t / 2 % 2.
  const auto row = [&](std::size_t t) {
    std::vector<float> obs(static_cast<std::size_t>(shape.obs_size), 0.0f);
    for (std::size_t agent = 0; agent < 3; ++agent) {
      const auto& view = shape.agents[agent];
      obs[static_cast<std::size_t>(view.active)] = t % 3 == agent ? 1.0f : 0.0f;
      obs[static_cast<std::size_t>(view.mask_begin) + t / 2 % 2] = 1.0f;
    }
    return obs;
  };
  std::vector<agent_steps::joined> complete;
  for (std::size_t t = 0; t < 4; ++t) {
    const auto before = row(t), next = row(t + 1);
    results.take(
        {.terminated = {0}, .truncated = {0}, .agent_reward = {0, 0, 0}, .agent_ended = {0, 0, 0}},
        0, before.data(), next.data());
    for (auto& one : steps.add({.obs = row(t)}, results)) complete.push_back(std::move(one));
  }
  REQUIRE(complete.size() == 2);
  for (std::size_t player = 0; player < 2; ++player) {
    const auto mask = static_cast<std::size_t>(shape.agents[player].mask_begin);
    const bool odd = (player + 3) / 2 % 2 == 1;
    CHECK(complete[player].next_obs[mask] == (odd ? 0.0f : 1.0f));
    CHECK(complete[player].next_obs[mask + 1] == (odd ? 1.0f : 0.0f));
  }
}

TEST_CASE("acting: action values take the best choice that is allowed") {
  const network_shape shape{.obs_size = 1 + 3, .discrete_actions = 3, .mask_size = 3};
  single_network network(shape, {.hidden = {}, .kind = network_kind::q_values});
  REQUIRE(network.parameter_count() == 6);
  network.load_parameters(at::tensor({1.0f, 2.0f, 3.0f, 0.0f, 0.0f, 0.0f}));  // Q = x, 2 x, 3 x
  const std::vector<float> obs{1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, -1, 0, 1, 1, 1, 0, 0, 0};
  std::vector<std::int64_t> choices(5);
  action_random random(1);
  network.act(obs.data(), 5, random, true, {.choice = choices.data()});
  CHECK(choices == std::vector<std::int64_t>{2, 1, 0, 1, 2});
  auto short_mask = shape;
  short_mask.mask_size = 2;
  CHECK_THROWS_WITH(single_network(short_mask, {.hidden = {}, .kind = network_kind::q_values}),
                    Catch::Contains("got a mask of 2"));
}

}  // namespace troupe
