// The learners of IQL, VDN and QMIX.

#include "actors/torch/torch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "algorithms/multi_agent/off_policy/iql/learner.hpp"
#include "algorithms/multi_agent/off_policy/joint_q_networks.hpp"
#include "algorithms/multi_agent/off_policy/qmix/learner.hpp"
#include "algorithms/multi_agent/off_policy/qmix/mixing_network.hpp"
#include "algorithms/multi_agent/off_policy/vdn/learner.hpp"
#include "tests/algorithms/learner_parts.hpp"
#include "tests/algorithms/multi_agent/off_policy/mixed.hpp"
#include "tests/algorithms/multi_agent/off_policy/random_agents.hpp"
#include "tests/algorithms/multi_agent/off_policy/two_agents.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using testing::mixed;
using testing::one_step;
using testing::set_values;
using testing::two_agents;

joint_q_options linear(bool double_q = false) {
  joint_q_options options;
  options.network.hidden = {};
  options.double_q = double_q;
  return options;
}

/// The TD error of the one transition.
template <class Learner>
double td_error(const transition_batch& batch, bool double_q = false,
                const agents_section& agents = {}) {
  Learner learner(two_agents(), linear(double_q), 1, agents);
  set_values(learner);
  learner.update(batch);
  return learner.last().td_errors[0];
}

template <class Learner>
Learner some_learner(const network_shape& shape,
                     gradient_backend backend = gradient_backend::automatic,
                     activation kind = activation::tanh) {
  joint_q_options options;
  options.lr = 1e-3;
  options.max_skipped_steps = 3;
  options.backend = backend;
  options.network.hidden = {16, 20};
  options.network.hidden_activation = kind;
  return Learner(shape, options, 5, {});
}

/// Four agents of two policies, which come and go, with masks.
network_shape four_acting_agents() {
  const space seen = spaces::box(-1, 1, {3}), other = spaces::box(-1, 1, {2});
  const env_spec spec{.id = "Four-v0",
                      .agents = {{"a", seen, spaces::discrete(4)},
                                 {"b", other, spaces::discrete(3)},
                                 {"c", seen, spaces::discrete(4)},
                                 {"d", other, spaces::discrete(3)}},
                      .state_space = spaces::box(-1, 1, {5}),
                      .agents_vary = true,
                      .action_masks = true};
  return joint_shape(with_joint_spaces(spec), {"p", "q", "p", "q"}, {});
}

transition_batch some_batch(const network_shape& shape, std::uint64_t seed) {
  case_random random(seed);
  return random_joint_batch(random, shape, 23);
}

std::vector<float> weights_of(const joint_q_learner& learner) {
  return {learner.parameters().begin(), learner.parameters().end()};
}

}  // namespace

TEST_CASE("vdn: the sum of the agents' values is learned from the team's reward", "[joint_q]") {
  // Q_tot = 1 + 1; y = .5 + .9 (max(20, 6) + max(10, 8)).
  CHECK(td_error<vdn_learner>(one_step()) == Approx(27.5 - 2));
  // Online a prefers 1, which the target values 6; b prefers 0, which it values 10.
  CHECK(td_error<vdn_learner>(one_step(), true) == Approx(0.5 + 0.9 * 16 - 2));

  vdn_learner learner(two_agents(), linear(), 1);
  set_values(learner);
  const auto metrics = learner.update(one_step());
  CHECK(metrics["train/loss"] == Approx(25.5 * 25.5));
  CHECK(metrics["train/q_mean"] == Approx(2));
  // The derivative by either chosen value is 2 (2 - 27.5); both weights and biases get it.
  const std::vector<float> expected{-51, 0, -51, 0, 0, -51, 0, -51};
  CHECK(std::ranges::equal(learner.gradient(), expected));
  CHECK(metrics["train/grad_norm"] == Approx(102));
}

TEST_CASE("joint q: rewards are centred by the team's, or by those of each agent", "[joint_q]") {
  auto options = linear();
  options.normalize_reward = reward_scaling::center;
  vdn_learner team(two_agents(), options, 1);
  set_values(team);
  team.update(one_step());
  CHECK(team.last().td_errors[0] == Approx(0.9 * (20 + 10) - 2).epsilon(1e-3));
  iql_learner agents(two_agents(), options, 1, {});
  set_values(agents);
  agents.update(one_step());
  CHECK(agents.last().td_errors[0] == Approx(((0.9 * 20 - 1) + (0.9 * 10 - 1)) / 2).epsilon(1e-3));
  const auto scale = parts_of(agents).reward_scale;
  REQUIRE(scale.size() == 2);
  CHECK(scale[1].mean()[0] == Approx(0.75).epsilon(1e-3));
  vdn_learner plain(two_agents(), linear(), 1);
  CHECK_THROWS_WITH(plain.restore(team.save()), Catch::Contains("expected statistics of 0"));
}

TEST_CASE("vdn: forbidden choices have no next value", "[joint_q]") {
  auto batch = one_step();
  batch.next_obs[5] = 0;  // a may not choose 0
  CHECK(td_error<vdn_learner>(batch) == Approx(0.5 + 0.9 * (6 + 10) - 2));
  batch.next_obs[6] = 0;  // nor 1: a mask that allows nothing allows all
  CHECK(td_error<vdn_learner>(batch) == Approx(0.5 + 0.9 * (20 + 10) - 2));
  batch.next_obs[7] = 0;  // b may only choose 1
  CHECK(td_error<vdn_learner>(batch) == Approx(0.5 + 0.9 * (20 + 8) - 2));
}

TEST_CASE("vdn: agents that have ended count nothing", "[joint_q]") {
  auto batch = one_step();
  batch.next_obs[4] = 0;  // b does not act any more
  CHECK(td_error<vdn_learner>(batch) == Approx(0.5 + 0.9 * 20 - 2));
  batch.obs[4] = 0;  // nor did it before
  CHECK(td_error<vdn_learner>(batch) == Approx(0.5 + 0.9 * 20 - 1));
  batch = one_step();
  batch.agent_terminated = {1, 0};
  CHECK(td_error<vdn_learner>(batch) == Approx(0.5 + 0.9 * 10 - 2));
  batch.terminated = {1};
  CHECK(td_error<vdn_learner>(batch) == Approx(2 - 0.5));
}

TEST_CASE("joint q: orthogonal initial weights have a gain of 1 in the last layer", "[joint_q]") {
  network_options options;
  options.hidden = {};
  const joint_q_networks networks(four_acting_agents(), options);
  std::vector<float> parameters(networks.parameter_count());
  action_random random(1);
  networks.initialise(random, true, parameters.data());
  for (std::size_t i = 0; i < networks.policies(); ++i) {
    const auto& of = networks[i];
    const auto begin = parameters.begin() + static_cast<std::ptrdiff_t>(of.first);
    const auto end = i + 1 < networks.policies()
                         ? parameters.begin() + static_cast<std::ptrdiff_t>(networks[i + 1].first)
                         : parameters.end();
    const auto inputs = (end - begin) / of.actions - 1;  // beside the bias
    const double squares = std::inner_product(begin, end, begin, 0.0);
    CHECK(squares == Approx(static_cast<double>(std::min<std::ptrdiff_t>(inputs, of.actions))));
  }
}

TEST_CASE("iql: each agent learns from what it is trained on", "[joint_q]") {
  // y_a = .25 + .9 * 20 against 1, y_b = .75 + .9 * 10 against 1.
  CHECK(td_error<iql_learner>(one_step()) == Approx((17.25 + 8.75) / 2));
  auto batch = one_step();
  batch.agent_terminated = {1, 0};
  CHECK(td_error<iql_learner>(batch) == Approx((0.75 + 8.75) / 2));
  batch.obs[4] = 0;  // b does not act
  CHECK(td_error<iql_learner>(batch) == Approx(0.75));
  CHECK(td_error<iql_learner>(one_step(), false, {.frozen = {"a"}}) == Approx(8.75));

  iql_learner learner(two_agents(), linear(), 1, {});
  set_values(learner);
  const auto metrics = learner.update(one_step());
  CHECK(metrics["train/loss"] == Approx(17.25 * 17.25 + 8.75 * 8.75));
  CHECK(metrics["train/q_mean"] == Approx(1));
  const std::vector<float> expected{-34.5, 0, -34.5, 0, 0, -17.5, 0, -17.5};
  CHECK(std::ranges::equal(learner.gradient(), expected));
}

TEST_CASE("iql: a policy's step hangs on nothing that other policies see", "[joint_q]") {
  iql_learner one(two_agents(), linear(), 1, {}), other(two_agents(), linear(), 1, {});
  for (auto* learner : {&one, &other}) set_values(*learner);
  auto batch = one_step();
  one.update(batch);
  batch.obs[1] = 50;  // b's gradient is so large that it is clipped
  batch.agent_reward[1] = -1000;
  other.update(batch);
  CHECK(std::ranges::equal(one.acting().first(4), other.acting().first(4)));
  CHECK_FALSE(std::ranges::equal(one.gradient().last(4), other.gradient().last(4)));
  batch.obs[4] = 0;  // b does not act in this batch: its momentum moves nothing
  const auto before = weights_of(other);
  other.update(batch);
  CHECK(std::ranges::equal(other.acting().last(4), std::span(before).last(4)));
  CHECK_FALSE(std::ranges::equal(other.acting().first(4), std::span(before).first(4)));
}

TEST_CASE("iql: a policy of which no agent acts in the batch takes no step", "[joint_q]") {
  const auto shape = four_acting_agents();
  network_options options;
  options.hidden = {16, 20};
  const auto second = joint_q_networks(shape, options)[1].first;
  for (const int absent : {0, 1}) {
    CAPTURE(absent);
    auto learner = some_learner<iql_learner>(shape);
    learner.update(some_batch(shape, 1));  // The optimisers have momentum from here on.
    const auto before = weights_of(learner);
    auto batch = some_batch(shape, 2);
    const auto rows = static_cast<std::size_t>(batch.rows);
    const auto width = batch.obs.size() / rows;
    for (const auto& agent : shape.agents) {
      if (agent.policy != absent) continue;
      for (std::size_t row = 0; row < rows; ++row) {
        batch.obs[row * width + static_cast<std::size_t>(agent.active)] = 0;
      }
    }
    learner.update(batch);
    const auto after = weights_of(learner);
    const bool first_stays =
        std::equal(after.begin(), after.begin() + std::ptrdiff_t(second), before.begin());
    const bool second_stays = std::equal(after.begin() + std::ptrdiff_t(second), after.end(),
                                         before.begin() + std::ptrdiff_t(second));
    CHECK(first_stays == (absent == 0));
    CHECK(second_stays == (absent == 1));
  }
}

TEST_CASE("iql: frozen policies keep their weights", "[joint_q]") {
  const auto shape = four_acting_agents();
  joint_q_options options;
  iql_learner learner(shape, options, 1, {.frozen = {"q"}});
  const auto before = weights_of(learner);
  for (int i = 0; i < 5; ++i) learner.update(some_batch(shape, static_cast<std::uint64_t>(i)));
  learner.update_target();
  const auto after = weights_of(learner);
  const auto first = static_cast<std::ptrdiff_t>(learner.networks()[1].first);
  CHECK(std::equal(before.begin() + first, before.end(), after.begin() + first));
  CHECK_FALSE(std::equal(before.begin(), before.begin() + first, after.begin()));
}

TEST_CASE("qmix: a team's value grows with the value of each agent", "[joint_q]") {
  const auto shape = four_acting_agents();
  mixing_network mixer(shape, {.hyper_hidden = {7}});
  case_random random(1);
  std::vector<float> parameters(static_cast<std::size_t>(mixer.layout().count));
  for (auto& p : parameters) p = static_cast<float>(random.normal());
  constexpr int rows = 200;
  auto batch = random_joint_batch(random, shape, rows);
  std::vector<float> q(4 * rows);
  random.fill_normal(q);
  auto total = mixed(mixer, parameters, batch.obs, q, rows);
  for (std::size_t agent = 0; agent < 4; ++agent) {
    for (std::size_t row = 0; row < rows; ++row) q[4 * row + agent] += 0.5f;
    const auto raised = mixed(mixer, parameters, batch.obs, q, rows);
    for (std::size_t row = 0; row < rows; ++row) CHECK(raised[row] >= total[row]);
    total = raised;
  }
}

TEST_CASE("qmix: the mixer's input lies where the environment shows it", "[joint_q]") {
  const auto range = [](const network_shape& shape, mixer_input input) {
    const auto found = input_of_mixer(shape, input);
    return std::pair(found.begin, found.size);
  };
  using pair = std::pair<std::size_t, std::size_t>;
  CHECK(range(two_agents(), mixer_input::state) == pair(2, 1));
  CHECK(range(two_agents(), mixer_input::observations) == pair(0, 2));
  auto spec = testing::two_agents_spec();
  const auto of = [&] { return joint_shape(with_joint_spaces(spec), {"a", "b"}, {}); };
  spec.agents_vary = false;
  CHECK(range(of(), mixer_input::state) == pair(2, 1));
  spec.action_masks = false;
  CHECK(range(of(), mixer_input::state) == pair(2, 1));
  spec.state_space = {};
  CHECK(range(of(), mixer_input::state) == pair(2, 0));
  CHECK_THROWS_WITH(qmix_learner(of(), linear(), 1),
                    Catch::Contains("expected an environment that shows its input"));
  CHECK(range(of(), mixer_input::none) == pair(0, 0));
  CHECK_NOTHROW(qmix_learner(of(), linear(), 1, {}, {.input = mixer_input::none}));
}

TEST_CASE("qmix: without an input the mixing weights are the same everywhere", "[joint_q]") {
  const auto shape = four_acting_agents();
  case_random random(1);
  const auto batch = random_joint_batch(random, shape, 2);
  const std::vector<float> q{1, 2, 3, 4, 1, 2, 3, 4};
  for (const auto input : {mixer_input::state, mixer_input::none}) {
    mixing_network mixer(shape, {.input = input});
    std::vector<float> parameters(static_cast<std::size_t>(mixer.layout().count));
    mixer.initialise(random, parameters.data());
    const auto total = mixed(mixer, parameters, batch.obs, q, 2);
    CHECK((total[0] == total[1]) == (input == mixer_input::none));
  }
}

TEMPLATE_TEST_CASE("joint q: what an agent shows that does not act changes nothing", "[joint_q]",
                   iql_learner, vdn_learner, qmix_learner) {
  const auto shape = four_acting_agents();
  const auto width = static_cast<std::size_t>(shape.obs_size);
  for (const auto backend : {gradient_backend::fused, gradient_backend::libtorch}) {
    auto learner = some_learner<TestType>(shape, backend);
    auto other = some_learner<TestType>(shape, backend);
    case_random random(3);
    auto batch = random_joint_batch(random, shape, 40);
    auto changed = batch;
    int agents = 0;
    const auto change = [&](std::vector<float>& obs, std::size_t row, const agent_view& agent) {
      for (int i = 0; i < agent.obs_size; ++i) {
        obs[row * width + static_cast<std::size_t>(agent.obs_begin + i)] = 9;
      }
      const int choices = shape.policies[static_cast<std::size_t>(agent.policy)].mask_size;
      for (int i = 0; i < choices; ++i) {
        auto& allowed = obs[row * width + static_cast<std::size_t>(agent.mask_begin + i)];
        allowed = 1 - allowed;
      }
    };
    for (std::size_t row = 0; row < 40; ++row) {
      for (std::size_t i = 0; i < 4; ++i) {
        const auto& agent = shape.agents[i];
        const auto acts_in = [&](const std::vector<float>& obs) {
          return obs[row * width + static_cast<std::size_t>(agent.active)] != 0;
        };
        if (!acts_in(batch.next_obs) || batch.agent_terminated[row * 4 + i] != 0) {
          change(changed.next_obs, row, agent);
        }
        if (acts_in(batch.obs)) continue;
        ++agents;
        change(changed.obs, row, agent);
        changed.choice[row * 4 + i] = (changed.choice[row * 4 + i] + 1) % 3;
        changed.agent_reward[row * 4 + i] = 100;
      }
    }
    REQUIRE(agents > 40);
    const auto one = learner.update(batch), two = other.update(changed);
    CHECK(one["train/loss"] == two["train/loss"]);
    CHECK(one["train/grad_norm"] == two["train/grad_norm"]);
    CHECK(std::ranges::equal(learner.gradient(), other.gradient()));
    CHECK(std::ranges::equal(learner.last().td_errors, other.last().td_errors));
  }
}

TEMPLATE_TEST_CASE("joint q: a restored state continues bit for bit", "[joint_q]", iql_learner,
                   vdn_learner, qmix_learner) {
  const auto shape = four_acting_agents();
  auto learner = some_learner<TestType>(shape);
  const auto step = [&](joint_q_learner& which, int i) {
    which.update(some_batch(shape, static_cast<std::uint64_t>(i)));
    which.update_target();
  };
  for (int i = 0; i < 5; ++i) step(learner, i);
  auto other = some_learner<TestType>(shape);
  other.restore(learner.save());
  for (int i = 5; i < 12; ++i) {
    step(learner, i);
    step(other, i);
  }
  CHECK(weights_of(learner) == weights_of(other));
  CHECK(std::ranges::equal(learner.target(), other.target()));
  CHECK(parts_of(learner).numbers["n_updates"] == 12);

  joint_q_options options;
  options.network.hidden = {16, 21};
  TestType larger(shape, options, 5, {});
  CHECK_THROWS_AS(larger.restore(learner.save()), state_error);
}

TEMPLATE_TEST_CASE("joint q: libtorch's backend goes the same way", "[joint_q]", iql_learner,
                   vdn_learner, qmix_learner) {
  const auto shape = four_acting_agents();
  auto fused = some_learner<TestType>(shape, gradient_backend::fused);
  auto libtorch = some_learner<TestType>(shape, gradient_backend::libtorch);
  const auto first = weights_of(fused);
  for (int i = 0; i < 10; ++i) {
    const auto batch = some_batch(shape, static_cast<std::uint64_t>(i));
    fused.update(batch);
    libtorch.update(batch);
    for (std::size_t row = 0; row < 23; ++row) {
      CHECK(fused.last().td_errors[row] == Approx(libtorch.last().td_errors[row]).margin(1e-3));
    }
  }
  const auto a = weights_of(fused), b = weights_of(libtorch);
  double moved = 0.0, apart = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    moved = std::max(moved, std::abs(static_cast<double>(a[i]) - first[i]));
    apart = std::max(apart, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  CHECK(moved > 3e-3);  // ten steps of 1e-3
  CHECK(apart < 3e-4);
}

TEMPLATE_TEST_CASE("joint q: what has no fused gradient is libtorch's", "[joint_q]", iql_learner,
                   vdn_learner, qmix_learner) {
  const auto shape = four_acting_agents();
  CHECK_THROWS_WITH(some_learner<TestType>(shape, gradient_backend::fused, activation::silu),
                    Catch::Contains("activation silu has no fused gradient"));
  auto learner = some_learner<TestType>(shape, gradient_backend::automatic, activation::silu);
  const auto before = weights_of(learner);
  learner.update(some_batch(shape, 1));
  CHECK(weights_of(learner) != before);
}

TEMPLATE_TEST_CASE("joint q: a batch that is not finite is skipped, three in a row end it",
                   "[joint_q]", iql_learner, vdn_learner, qmix_learner) {
  const auto shape = four_acting_agents();
  auto learner = some_learner<TestType>(shape);
  auto bad = some_batch(shape, 1);
  for (auto* column : {&bad.reward, &bad.agent_reward}) {
    std::ranges::fill(*column, std::numeric_limits<float>::quiet_NaN());
  }
  const auto before = weights_of(learner);
  for (int i = 0; i < 2; ++i) CHECK(learner.update(bad).skipped_steps == 1);
  CHECK(weights_of(learner) == before);
  CHECK(learner.update(some_batch(shape, 2)).skipped_steps == 0);
  for (int i = 0; i < 2; ++i) CHECK(learner.update(bad).skipped_steps == 1);
  CHECK_THROWS_AS(learner.update(bad), non_finite_training);
}

TEMPLATE_TEST_CASE("joint q: options, shapes and batches that are wrong are named", "[joint_q]",
                   iql_learner, vdn_learner, qmix_learner) {
  joint_q_options options;
  options.lr = -1.0;
  CHECK_THROWS_WITH(TestType(four_acting_agents(), options, 1, {}),
                    Catch::Contains("/lr: expected a number > 0, got -1"));
  CHECK_THROWS_WITH(TestType({.obs_size = 3, .discrete_actions = 2}, {}, 1, {}),
                    Catch::Contains("expected several agents"));
  auto continuous = two_agents();
  continuous.policies[1].discrete_actions = 0;
  continuous.policies[1].continuous_size = 1;
  CHECK_THROWS_AS(TestType(continuous, {}, 1, {}), std::invalid_argument);
  const auto shape = four_acting_agents();
  auto learner = some_learner<TestType>(shape);
  auto batch = some_batch(shape, 1);
  batch.agent_reward.pop_back();
  CHECK_THROWS_WITH(learner.update(batch), Catch::Contains("agent_reward has 91 numbers"));
  batch = some_batch(shape, 1);
  batch.choice[1] = 3;  // the second agent has three choices
  CHECK_THROWS_WITH(learner.update(batch),
                    Catch::Contains("action 3 is no choice, expected 0 to 2"));
}

TEMPLATE_TEST_CASE("joint q: weights of a batch scale its rows", "[joint_q]", iql_learner,
                   vdn_learner, qmix_learner) {
  const auto shape = four_acting_agents();
  for (const auto backend : {gradient_backend::fused, gradient_backend::libtorch}) {
    auto batch = some_batch(shape, 1);
    batch.weight.clear();
    auto learner = some_learner<TestType>(shape, backend);
    const auto start = parts_of(learner);
    const double plain = learner.update(batch)["train/loss"];
    set_parts(learner, start);
    batch.weight.assign(23, 0.5f);
    CHECK(learner.update(batch)["train/loss"] == Approx(plain / 2));
  }
}

TEST_CASE("joint q: the targets follow by tau, those of the mixer too", "[joint_q]") {
  const auto shape = four_acting_agents();
  joint_q_options options;
  options.tau = 0.25;
  qmix_learner learner(shape, options, 1);
  const auto before = weights_of(learner);
  learner.update(some_batch(shape, 1));
  learner.update_target();
  const auto now = weights_of(learner);
  REQUIRE(now.size() == before.size());
  CHECK(now.back() != before.back());
  for (std::size_t i = 0; i < now.size(); ++i) {
    CHECK(learner.target()[i] == Approx(0.75f * before[i] + 0.25f * now[i]).margin(1e-6));
  }
}

TEST_CASE("joint q: several updates of the targets leave as many powers of 1 - tau", "[joint_q]") {
  const auto shape = four_acting_agents();
  joint_q_options options;
  options.tau = 0.25;
  qmix_learner learner(shape, options, 1);
  const auto before = weights_of(learner);
  learner.update(some_batch(shape, 1));
  const auto now = weights_of(learner);
  learner.update_target(0);
  CHECK(std::ranges::equal(learner.target(), before));
  learner.update_target(3);
  constexpr double stays = 27.0 / 64;  // (3 / 4)^3
  for (std::size_t i = 0; i < now.size(); ++i) {
    CHECK(learner.target()[i] == Approx(stays * before[i] + (1 - stays) * now[i]).margin(1e-6));
  }
}

TEST_CASE("qmix: a model's mixer is taken, and one that it doesn't have keeps its weights",
          "[joint_q]") {
  const auto shape = four_acting_agents();
  joint_q_options options;
  qmix_learner one(shape, options, 1), other(shape, options, 2), third(shape, options, 3);
  other.start_from(one.acting(), one.beside());
  CHECK(weights_of(other) == weights_of(one));
  CHECK(std::ranges::equal(other.target(), one.parameters()));
  const auto own = weights_of(third);
  third.start_from(one.acting(), {});
  const auto mixer = static_cast<std::ptrdiff_t>(one.acting().size());
  CHECK(std::ranges::equal(third.acting(), one.acting()));
  CHECK(std::equal(own.begin() + mixer, own.end(), third.parameters().begin() + mixer));
  CHECK(one.beside()[0].first == "mixer.w1.0.weight");

  qmix_learner wider(shape, options, 1, {}, {.embed_dim = 8});
  CHECK_THROWS_AS(wider.start_from(one.acting(), one.beside()), std::invalid_argument);
}

}  // namespace troupe
