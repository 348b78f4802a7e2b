#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/on_policy/coma/learner.hpp"

#include <cmath>
#include <numeric>

#include "algorithms/losses/coma_loss.hpp"
#include "tests/actors/gradients/evaluated.hpp"
#include "tests/actors/networks/gated.hpp"
#include "tests/algorithms/gradients/random_case.hpp"
#include "tests/algorithms/learner_parts.hpp"
#include "tests/algorithms/multi_agent/leaving.hpp"
#include "tests/algorithms/multi_agent/played_rollout.hpp"
#include "tests/algorithms/multi_agent/test_worlds.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using testing::leaving;
using testing::meeting;
using testing::play;
using testing::turns;

std::vector<float> random_policy(case_random& random, int actions) {
  std::vector<float> p;
  for (int i = 0; i < actions; ++i) p.push_back(static_cast<float>(random.between(0.01, 1.0)));
  const float sum = std::accumulate(p.begin(), p.end(), 0.0f);
  for (auto& x : p) x /= sum;
  return p;
}

/// A one-step game of some agents with a value for every joint action.
struct random_game {
  explicit random_game(case_random& random) {
    std::size_t size = 1;
    for (int agents = random.between(2, 4); agents > 0; --agents) {
      actions.push_back(random.between(2, 5));
      size *= static_cast<std::size_t>(actions.back());
      policies.push_back(random_policy(random, actions.back()));
      taken.push_back(random.between(0, actions.back() - 1));
    }
    values.resize(size);
    for (auto& value : values) value = static_cast<float>(random.between(-2.0, 2.0));
  }

  float value_of(const std::vector<std::int64_t>& joint) const {
    std::size_t index = 0;
    for (std::size_t i = 0; i < joint.size(); ++i) {
      index = index * static_cast<std::size_t>(actions[i]) + static_cast<std::size_t>(joint[i]);
    }
    return values[index];
  }

  /// Calls `use(joint)` for every joint action.
  template <class Use>
  void enumerate(const Use& use) const {
    std::vector<std::int64_t> joint(actions.size(), 0);
    for (;;) {
      use(joint);
      std::size_t i = 0;
      while (i < joint.size() && ++joint[i] == actions[i]) joint[i++] = 0;
      if (i == joint.size()) return;
    }
  }

  /// Equation 4, by a sum over all joint actions that agree with what the others do.
  double advantage_of(std::size_t agent) const {
    double baseline = 0;
    enumerate([&](const std::vector<std::int64_t>& joint) {
      for (std::size_t i = 0; i < joint.size(); ++i) {
        if (i != agent && joint[i] != taken[i]) return;
      }
      baseline += double{policies[agent][static_cast<std::size_t>(joint[agent])]} * value_of(joint);
    });
    return value_of(taken) - baseline;
  }

  std::vector<int> actions;
  std::vector<std::vector<float>> policies;
  std::vector<std::int64_t> taken;
  std::vector<float> values;
};

std::vector<detail::row_index> all_rows(const rollout_batch& batch) {
  std::vector<detail::row_index> rows(static_cast<std::size_t>(batch.reward.numel()));
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

/// Two agents with three and four actions, each of a policy of its own, in some one-step games.
struct two_agent_games {
  two_agent_games() {
    env_spec spec{.id = "Game-v0"};
    const space seen = spaces::box(-9, 9, {2});
    spec.agents = {{"row", seen, spaces::discrete(3)}, {"column", seen, spaces::discrete(4)}};
    spec = with_joint_spaces(spec);
    shape = joint_shape(spec, {"row", "column"}, {});
  }

  /// T games of B environments side by side, in which the agents choose at random.
  rollout play(case_random& random, std::int64_t T, std::int64_t B) const {
    rollout made;
    made.steps = T;
    made.environments = B;
    const auto count = static_cast<std::size_t>(T * B);
    for (int policy = 0; policy < 2; ++policy) {
      auto& of = made.policies.emplace_back();
      of.steps = T;
      of.columns = B;
      of.valid.assign(count, 1);
      of.obs.resize(count * 2);
      random.fill_normal(of.obs);
      for (std::size_t i = 0; i < count; ++i) of.discrete.push_back(random.between(0, 2 + policy));
      of.log_prob.assign(count, -1.0f);
      of.value.assign(count, 0.0f);
      of.reward.resize(count);
      random.fill_normal(of.reward);
      of.terminated.assign(count, 1);
      of.truncated.assign(count, 0);
      of.bootstrap_obs.assign(static_cast<std::size_t>(B * 2), 0.0f);
      of.bootstrap_value.assign(static_cast<std::size_t>(B), 0.0f);
      auto& when = of.acting;
      for (std::size_t i = 0; i < count; ++i) {
        when.step.push_back(static_cast<std::int64_t>(i) / B);
      }
      when.bootstrap_choice.assign(static_cast<std::size_t>(B), 0);
    }
    check(made, shape);
    return made;
  }

  network_shape shape;
};

coma_batch batch_of(const network_shape& shape, const rollout& r, std::size_t policy,
                    bool stale = false) {
  const training_rollouts given{.rollouts = {r}, .stale = stale};
  return {to_batch(given, shape_of(shape.policies[policy]), policy),
          critic_inputs(shape).rows_of(given.rollouts, policy)};
}

coma_learner learner_of(const network_shape& shape, std::size_t policy, const coma_options& options,
                        std::uint64_t seed) {
  const critic_inputs inputs(shape);
  return {shape_of(shape.policies[policy]), inputs.width(policy), options, seed,
          inputs.parts(policy)};
}

std::vector<float> numbers_of(const coma_learner& learner) {
  const auto& p = learner.model().parameters();
  std::vector<float> numbers(p.data_ptr<float>(), p.data_ptr<float>() + p.numel());
  const auto critic = parts_of(learner)["critic"];
  numbers.insert(numbers.end(), critic.begin(), critic.end());
  return numbers;
}

/// The actions of the agents of a row, as its blocks have them; -1 for a block of zeros.
std::vector<int> actions_in(const float* blocks, std::size_t agents, std::size_t actions) {
  std::vector<int> taken;
  for (std::size_t i = 0; i < agents; ++i, blocks += actions) {
    taken.push_back(-1);
    float sum = 0;
    for (std::size_t u = 0; u < actions; ++u) {
      sum += blocks[u];
      if (blocks[u] == 1.0f) taken.back() = static_cast<int>(u);
    }
    CHECK(sum == (taken.back() < 0 ? 0.0f : 1.0f));
  }
  return taken;
}

}  // namespace

TEST_CASE("coma: counterfactual advantages are those of all joint actions enumerated") {
  double worst = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    case_random random(seed);
    const random_game game(random);
    for (std::size_t agent = 0; agent < game.actions.size(); ++agent) {
      std::vector<float> q;
      auto joint = game.taken;
      for (joint[agent] = 0; joint[agent] < game.actions[agent]; ++joint[agent]) {
        q.push_back(game.value_of(joint));
      }
      float advantage = 0;
      counterfactual_advantages({.rows = 1,
                                 .actions = game.actions[agent],
                                 .q = q.data(),
                                 .probability = game.policies[agent].data(),
                                 .choice = &game.taken[agent]},
                                &advantage);
      worst = std::max(worst, std::abs(advantage - game.advantage_of(agent)));
    }
  }
  INFO("worst distance " << worst);
  CHECK(worst < 1e-6);
}

TEST_CASE("coma: a learner's advantages are those of a table in the critic's place") {
  const two_agent_games games;
  double worst = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    case_random random(seed);
    const auto r = games.play(random, 3, 5);
    // A critic without hidden layers is a table of what both agents do.
    std::vector<float> table(3 * 4);
    random.fill_normal(table);
    for (std::size_t agent = 0; agent < 2; ++agent) {
      coma_options options;
      options.network.hidden = {8};
      options.network.critic_hidden = std::vector<int>{};
      auto learner = learner_of(games.shape, agent, options, seed);
      case_random noise(seed + 7);
      for (std::int64_t i = 0; i < learner.model().parameter_count(); ++i) {
        learner.model().parameters().data_ptr<float>()[i] += 0.5f * float(noise.normal());
      }
      const int own = learner.critic().actions();
      auto weights = learner.critic().parameters();
      std::ranges::fill(weights, 0.0f);
      // The inputs: two of the observation, three of agent 0's action, four of agent 1's.
      for (int other = 0; other < 7; ++other) {
        const bool is_own = (other < 3) == (agent == 0);
        for (int u = 0; u < own; ++u) {
          const auto row = agent == 0 ? u : other, column = agent == 0 ? other - 3 : u;
          // What stands for the agent's own action must not matter.
          weights[static_cast<std::size_t>((2 + other) * own + u)] =
              is_own ? 100.0f : table[static_cast<std::size_t>(row * 4 + column)];
        }
      }
      const auto batch = batch_of(games.shape, r, agent);
      const auto rows = all_rows(batch.rows);
      const auto advantage = learner.advantages_of(batch, rows);
      const auto& mine = r.policies[agent];
      const auto& others = r.policies[1 - agent];
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto value = [&](std::int64_t u) {
          const auto row = agent == 0 ? u : others.discrete[i];
          const auto column = agent == 0 ? others.discrete[i] : u;
          return double{table[static_cast<std::size_t>(row * 4 + column)]};
        };
        double baseline = 0;
        for (std::int64_t u = 0; u < own; ++u) {
          const auto obs = at::tensor({mine.obs[2 * i], mine.obs[2 * i + 1]});
          const auto now = evaluated(learner.model(), obs, at::tensor({u}));
          baseline += std::exp(now.log_prob[0].item<double>()) * value(u);
        }
        const double expected = value(mine.discrete[i]) - baseline;
        worst = std::max(worst, std::abs(advantage.data_ptr<float>()[i] - expected));
      }
    }
  }
  INFO("worst distance " << worst);
  CHECK(worst < 1e-6);
}

TEST_CASE("coma: the critic's targets are the mixture of n-step returns") {
  // Episodes of eight steps are cut; the rollout has one and four steps of the next.
  const auto choose = [](std::int64_t t, std::size_t b, std::size_t i) {
    return static_cast<std::int64_t>((static_cast<std::size_t>(t) * 7 + b * 3 + i) % 3);
  };
  const std::int64_t T = 12;
  const auto [shape, r] =
      play<meeting>(T, 2, {"walker", "walker"}, {.critic = central_input::state}, choose);
  coma_options options;
  options.gamma = 0.9;
  options.gae_lambda = 0.7;
  auto learner = learner_of(shape, 0, options, 3);
  const auto batch = batch_of(shape, r, 0);
  const auto y = learner.targets_of(batch);

  const auto& of = r.policies[0];
  const auto columns = static_cast<std::size_t>(of.columns);
  const auto width = static_cast<std::size_t>(learner.critic().inputs());
  const auto q = [&](const std::vector<float>& inputs, std::size_t row, std::int64_t choice) {
    float values[3];
    learner.critic().target_values(inputs.data() + row * width, 1, values);
    return double{values[choice]};
  };
  double worst = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::int64_t t = 0; t < T; ++t) {
      // Equation 2: y = (1 - lambda) sum of lambda^(n-1) G^(n), where the last n-step return has
      // all the weight that is left.
      double expected = 0, weight = 1, rewards = 0, discount = 1;
      for (auto k = t;; ++k) {
        const auto row = static_cast<std::size_t>(k) * columns + c;
        rewards += discount * of.reward[row];
        discount *= options.gamma;
        const bool cut = of.truncated[row] != 0, last = cut || k + 1 == T;
        double next = 0;
        if (cut) {
          for (std::size_t f = 0; f < of.cuts.size(); ++f) {
            if (of.cuts[f].step != k || !std::cmp_equal(of.cuts[f].index, c)) continue;
            next = q(batch.critic.finals, f, batch.critic.final_choice[f]);
          }
        } else if (last) {
          next = q(batch.critic.bootstrap, c, batch.critic.bootstrap_choice[c]);
        } else {
          next = q(batch.critic.steps, row + columns, of.discrete[row + columns]);
        }
        const double g = rewards + discount * next;
        expected += last ? weight * g : weight * (1 - options.gae_lambda) * g;
        weight *= options.gae_lambda;
        if (last) break;
      }
      const auto row = t * static_cast<std::int64_t>(columns) + static_cast<std::int64_t>(c);
      worst = std::max(worst, std::abs(y.data_ptr<float>()[row] - expected));
    }
  }
  INFO("worst distance " << worst);
  CHECK(worst < 1e-5);
}

TEST_CASE("coma: the critic sees what the others do in the same step") {
  const auto choose = [](std::int64_t t, std::size_t b, std::size_t i) {
    return static_cast<std::int64_t>((static_cast<std::size_t>(t) + 2 * b + i) % 3);
  };
  const auto [shape, r] =
      play<meeting>(10, 2, {"a", "b"}, {.critic = central_input::state}, choose);
  for (std::size_t policy = 0; policy < 2; ++policy) {
    const auto batch = batch_of(shape, r, policy);
    const auto width = static_cast<std::size_t>(critic_inputs(shape).width(policy));
    REQUIRE(width == 4 + 6);  // own, state, two actions
    const auto others = [&](std::int64_t t, std::size_t b) {
      std::vector<int> taken(2, -1);
      taken[1 - policy] = static_cast<int>(choose(t, b, 1 - policy));
      return taken;
    };
    for (std::size_t row = 0; row < 20; ++row) {
      const float* x = batch.critic.steps.data() + row * width;
      CHECK(std::equal(x, x + 4, r.policies[policy].obs.data() + row * 4));
      CHECK(actions_in(x + 4, 2, 3) == others(static_cast<std::int64_t>(row / 2), row % 2));
    }
    REQUIRE(batch.critic.final_choice.size() == 2);
    for (std::size_t b = 0; b < 2; ++b) {
      // Episodes end after eight steps, the rollout after ten.
      CHECK(actions_in(batch.critic.finals.data() + b * width + 4, 2, 3) == others(8, b));
      CHECK(batch.critic.final_choice[b] == choose(8, b, policy));
      CHECK(actions_in(batch.critic.bootstrap.data() + b * width + 4, 2, 3) == others(10, b));
      CHECK(batch.critic.bootstrap_choice[b] == choose(10, b, policy));
    }
  }
}

TEST_CASE("coma: agents that do not act have no action in the critic's rows") {
  const auto choose = [](std::int64_t t, std::size_t, std::size_t) { return t % 2; };
  SECTION("in turn") {
    const auto [shape, r] = play<turns>(9, 1, {"p", "p", "p"}, {}, choose);
    const auto batch = batch_of(shape, r, 0);
    const auto width = static_cast<std::size_t>(critic_inputs(shape).width(0));
    for (std::size_t row = 0; row < 9; ++row) {  // three steps of each player
      CHECK(actions_in(batch.critic.steps.data() + row * width + 7, 3, 3) ==
            std::vector<int>{-1, -1, -1});
    }
  }
  SECTION("in turn, at a time limit") {
    const auto [shape, r] = play<testing::endless<true>>(5, 1, {"p", "p", "p"}, {}, choose);
    const auto batch = batch_of(shape, r, 0);
    const auto width = static_cast<std::size_t>(critic_inputs(shape).width(0));
    // Player 0 has made the last step, so player 1 alone would act next.
    REQUIRE(r.policies[0].cuts.size() == 2);
    CHECK(r.policies[0].acting.final_acts == std::vector<std::uint8_t>{0, 1});
    const auto seen = [&](std::size_t row) {
      return actions_in(batch.critic.finals.data() + row * width + width - 6, 3, 2);
    };
    CHECK(seen(0) == std::vector<int>{-1, 1, -1});
    CHECK(seen(1) == std::vector<int>{-1, -1, -1});
  }
  SECTION("after their ends") {
    const auto [shape, r] = play<leaving>(8, 1, {"p", "p", "p"}, {.agent_ids = false}, choose);
    const auto batch = batch_of(shape, r, 0);
    const auto width = static_cast<std::size_t>(critic_inputs(shape).width(0));
    const auto seen = [&](const std::vector<float>& rows, std::size_t row) {
      return actions_in(rows.data() + row * width + 4, 3, 3);
    };
    using actions = std::vector<int>;
    // Rows of agent_2, in column 2 of three: all act in steps 0 and 1, then it and agent_1, then
    // it alone. Step 5 begins the next episode.
    CHECK(seen(batch.critic.steps, 0 * 3 + 2) == actions{0, 0, -1});
    CHECK(seen(batch.critic.steps, 1 * 3 + 2) == actions{1, 1, -1});
    CHECK(seen(batch.critic.steps, 2 * 3 + 2) == actions{-1, 0, -1});
    CHECK(seen(batch.critic.steps, 3 * 3 + 2) == actions{-1, -1, -1});
    CHECK(seen(batch.critic.steps, 4 * 3 + 2) == actions{-1, -1, -1});
    CHECK(seen(batch.critic.steps, 5 * 3 + 2) == actions{1, 1, -1});
    // Row 2 of agent_0 is of step 5, because it leaves after two steps.
    CHECK(r.policies[0].acting.step[2 * 3] == 5);
    CHECK(seen(batch.critic.steps, 2 * 3) == actions{-1, 1, 1});
    // agent_0 is cut off after step 1, when the others go on, and agent_2 after step 4, with whose
    // end the others' next actions are those of another episode.
    REQUIRE(r.policies[0].cuts.size() == 3);
    CHECK(r.policies[0].acting.final_step == std::vector<std::int64_t>{2, 5, 7});
    CHECK(seen(batch.critic.finals, 0) == actions{-1, 0, 0});
    CHECK(seen(batch.critic.finals, 1) == actions{-1, -1, -1});
    CHECK(seen(batch.critic.finals, 2) == actions{-1, 1, 1});
    // agent_2 acts next, and nobody else.
    CHECK(seen(batch.critic.bootstrap, 2) == actions{-1, -1, -1});
    CHECK(batch.critic.bootstrap_choice == std::vector<std::int64_t>{0, 0, 0});
  }
}

TEST_CASE("coma: agents that have ended give no loss") {
  const auto choose = [](std::int64_t t, std::size_t b, std::size_t i) {
    return static_cast<std::int64_t>((static_cast<std::size_t>(t * t) + b + i) % 3);
  };
  const auto [shape, r] =
      play<leaving>(10, 4, {"p", "p", "p"}, {.critic = central_input::state}, choose);
  const auto trained = std::ranges::count(r.policies[0].valid, 1);
  REQUIRE(trained == 4 * (4 + 6 + 10));
  const auto weights_after = [&](const rollout& with) {
    auto learner = learner_of(shape, 0, {}, 5);
    const auto report = learner.update(batch_of(shape, with, 0));
    CHECK(report.trained_rows == trained);
    CHECK(report["train/dropped_rows"] == 4 * 30 - trained);
    return numbers_of(learner);
  };
  auto other = r;
  auto& of = other.policies[0];
  for (std::size_t row = 0; row < of.valid.size(); ++row) {
    if (of.valid[row]) continue;
    CHECK(other.policies[0].acting.step[row] == -1);
    of.reward[row] = 1000;
    of.log_prob[row] = -9;
    of.discrete[row] = 2;
    for (std::size_t i = 0; i < 8; ++i) of.obs[row * 8 + i] = 77;
  }
  const auto weights = weights_after(r);
  CHECK(weights_after(other) == weights);
  other = r;
  other.policies[0].reward[0] += 1;
  CHECK(weights_after(other) != weights);
}

TEST_CASE("rollout_writer: an agent's cut goes with its episode if the environment fails") {
  leaving::fails_at = 3;
  const auto choose = [](std::int64_t t, std::size_t, std::size_t) { return t % 2; };
  const auto [shape, r] = play<leaving>(6, 2, {"p", "p", "p"}, {}, choose);
  leaving::fails_at = -1;
  // Steps 0 to 2 are lost with step 3, in which agent_2 acts alone. Of the second episode there are
  // two steps, after which agent_0 is cut off, and agent_1 goes on behind the end of its column.
  CHECK(std::ranges::count(r.policies[0].valid, 1) == 2 * 3 * 2);
  REQUIRE(r.policies[0].cuts.size() == 4);
  CHECK(r.policies[0].final_obs.size() ==
        4u * static_cast<std::size_t>(shape.policies[0].obs_size));
  CHECK_NOTHROW(check(r, shape));
}

TEST_CASE("coma: both backends learn the same") {
  const two_agent_games games;
  register_gated();
  const auto weights_by = [&](gradient_backend backend, const std::string& encoder) {
    case_random random(3);
    coma_options options;
    options.network = {.hidden = {16, 16}, .encoder = encoder, .backend = backend};
    options.batch_size = 40;
    options.n_epochs = 1;
    auto learner = learner_of(games.shape, 1, options, 9);
    CHECK(learner.critic().is_fused() == (backend == gradient_backend::fused));
    for (int i = 0; i < 5; ++i) {
      const auto report =
          learner.update(batch_of(games.shape, games.play(random, 20, 6), 1, i > 2));
      CHECK(report.optimizer_steps == 4);
      CHECK(report.skipped_steps == 0);
    }
    return numbers_of(learner);
  };
  for (const std::string encoder : {"", "gated"}) {
    const auto fused = weights_by(gradient_backend::fused, encoder);
    const auto libtorch = weights_by(gradient_backend::libtorch, encoder);
    CHECK(relative_distance(fused, in_double(libtorch)) < 1e-4);
    CHECK(fused != libtorch);
  }
}

TEST_CASE(
    "coma: the critic encodes each observation in its row and the state, and its target, too") {
  register_gated();
  env_spec spec{.id = "Game-v0"};
  const space seen = spaces::box(-9, 9, {2}), other = spaces::box(-9, 9, {3});
  spec.agents = {{"row", seen, spaces::discrete(3)}, {"column", other, spaces::discrete(4)}};
  spec.state_space = spaces::box(-9, 9, {5});
  spec = with_joint_spaces(spec);
  const auto parts = [&](central_input critic, std::size_t policy) {
    return critic_inputs(joint_shape(spec, {"row", "column"}, {.critic = critic})).parts(policy);
  };
  using all = std::vector<encoded_part>;
  CHECK((parts(central_input::none, 1) == all{{0, 3}}));
  CHECK((parts(central_input::observations, 1) == all{{0, 3}, {3, 2}, {5, 3}}));
  CHECK((parts(central_input::state, 0) == all{{0, 2}, {2, 5}}));

  const two_agent_games games;
  case_random random(3);
  coma_options options;
  options.network.encoder = "gated";
  options.n_epochs = 1;
  auto learner = learner_of(games.shape, 0, options, 9);
  auto& critic = learner.critic();
  const auto plain = learner_of(games.shape, 0, {}, 9).critic().parameters().size();
  const auto encoded = make_encoder("gated", 2)->parameter_count();
  CHECK(critic.parameters().size() == plain + (6 - 2) * 64 + encoded);
  const auto batch = batch_of(games.shape, games.play(random, 5, 6), 0);
  std::vector<float> q(3 * 30), target(q), now(q), still(q);
  critic.values(batch.critic.steps.data(), 30, q.data());
  critic.target_values(batch.critic.steps.data(), 30, target.data());
  CHECK(q == target);
  const std::vector<float> before(critic.parameters().begin(), critic.parameters().end());
  learner.update(batch);
  const auto after = critic.parameters();
  for (std::size_t i = after.size() - encoded; i < after.size(); ++i) CHECK(after[i] != before[i]);
  critic.values(batch.critic.steps.data(), 30, now.data());
  critic.target_values(batch.critic.steps.data(), 30, still.data());
  CHECK(now != q);
  CHECK(still == target);
}

TEST_CASE("coma: rows of a stale batch are weighted by what became of their probability") {
  const two_agent_games games;
  case_random random(3);
  const auto r = games.play(random, 5, 6);  // which says that each action had the probability 1/e
  coma_options options;
  options.importance_cap = 1;
  const auto disturbed = [&] {
    auto learner = learner_of(games.shape, 0, options, 9);
    case_random noise(4);
    auto& parameters = learner.model().parameters();
    for (std::int64_t i = 0; i < parameters.numel(); ++i) {
      parameters.data_ptr<float>()[i] += 0.1f * static_cast<float>(noise.normal());
    }
    return learner;
  };
  const auto weight_of = [&](bool stale) {
    return disturbed().update(batch_of(games.shape, r, 0, stale))["train/importance_weight"];
  };
  auto learner = disturbed();
  const auto& of = r.policies[0];
  const auto log_prob =
      evaluated(learner.model(), at::tensor(of.obs), at::tensor(of.discrete)).log_prob;
  double expected = 0;
  int cut = 0;
  for (int i = 0; i < 30; ++i) {
    const double ratio = std::exp(log_prob[i].item<double>() + 1.0);
    cut += ratio > 1;
    expected += std::min(ratio, 1.0) / 30;
  }
  CHECK(cut > 0);
  CHECK(expected < 0.95);
  CHECK(weight_of(true) == Approx(expected));
  CHECK(weight_of(false) == 1);
}

TEST_CASE("coma: the target network is the critic of every so many steps") {
  const two_agent_games games;
  case_random random(3);
  coma_options options;
  options.batch_size = 10;
  options.n_epochs = 1;
  options.target_interval = 4;
  auto learner = learner_of(games.shape, 0, options, 9);
  const auto first = parts_of(learner);
  CHECK(first["critic"] == first["target"]);
  learner.update(batch_of(games.shape, games.play(random, 5, 6), 0));  // three steps
  CHECK(parts_of(learner)["target"] == first["target"]);
  CHECK(parts_of(learner)["critic"] != first["critic"]);
  learner.update(batch_of(games.shape, games.play(random, 5, 2), 0));  // the fourth
  CHECK(parts_of(learner)["target"] == parts_of(learner)["critic"]);
}

TEST_CASE("coma: the critic's learning rate follows the schedule") {
  const two_agent_games games;
  case_random random(3);
  const auto r = games.play(random, 5, 6);
  coma_options options;
  options.batch_size = 30;  // so that the critic takes one step
  options.n_epochs = 1;
  options.critic_lr = 1e-2;
  options.lr_schedule = annealing::linear;
  const auto moved = [&](double progress_remaining) {
    auto learner = learner_of(games.shape, 0, options, 9);
    const auto before = parts_of(learner)["critic"];
    learner.update(batch_of(games.shape, r, 0), progress_remaining);
    auto by = parts_of(learner)["critic"];
    for (std::size_t i = 0; i < by.size(); ++i) by[i] -= before[i];
    return by;
  };
  // An optimiser's first step is proportional to its learning rate.
  const auto whole = moved(1.0), quarter = moved(0.25);
  CHECK(std::ranges::max(whole) > 0.05f);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(quarter[i] == Approx(0.25 * whole[i]).margin(1e-6));
  }
}

TEST_CASE("coma: a learner goes on from its state, and refuses another's") {
  const two_agent_games games;
  auto learner = learner_of(games.shape, 0, {}, 9);
  auto restored = learner_of(games.shape, 0, {}, 10);
  case_random random(3);
  learner.update(batch_of(games.shape, games.play(random, 5, 6), 0));
  copy_learner(restored, learner);
  const auto next = batch_of(games.shape, games.play(random, 5, 6), 0);
  learner.update(next);
  restored.update(next);
  CHECK(numbers_of(learner) == numbers_of(restored));
  CHECK_THROWS_WITH(learner.restore(learner_of(games.shape, 1, {}, 9).save()),
                    Catch::StartsWith("coma state: critic: expected "));
}

TEST_CASE("coma: numbers that are not finite are dropped or end training") {
  const two_agent_games games;
  case_random random(3);
  auto r = games.play(random, 5, 6);
  r.policies[0].obs[4] = std::numeric_limits<float>::quiet_NaN();
  r.policies[0].reward[9] = std::numeric_limits<float>::infinity();
  coma_options options;
  options.max_skipped_steps = 2;
  options.n_epochs = 2;
  auto learner = learner_of(games.shape, 0, options, 9);
  CHECK(learner.update(batch_of(games.shape, r, 0)).trained_rows == 28);
  const auto before = numbers_of(learner);
  for (auto& weight : learner.critic().parameters()) weight = 1e30f;
  CHECK_THROWS_WITH(learner.update(batch_of(games.shape, games.play(random, 5, 6), 0)),
                    Catch::StartsWith("coma: 2 optimiser steps in a row were not finite"));
  for (const float x : before) CHECK(std::isfinite(x));
}

TEST_CASE("coma: other actions than one Discrete are refused") {
  const network_shape moves{.obs_size = 2, .continuous_size = 1};
  CHECK_THROWS_WITH(coma_learner(moves, 5, coma_options(), 1),
                    Catch::StartsWith("coma: expected one Discrete action, got "));
}

TEST_CASE("coma: a rollout without the actions of all agents is refused") {
  const two_agent_games games;
  case_random random(3);
  auto r = games.play(random, 5, 6);
  for (auto& of : r.policies) of.acting = {};
  CHECK_THROWS_WITH(batch_of(games.shape, r, 0),
                    "coma: expected rollouts with policy_rollout::acting, got one without");
  r = games.play(random, 5, 6);
  r.policies[1].acting.step[3] = 5;
  CHECK_THROWS_WITH(check(r, games.shape),
                    "policy \"column\": rollout: acting.step: expected -1 to 4, got 5");
}

}  // namespace troupe
