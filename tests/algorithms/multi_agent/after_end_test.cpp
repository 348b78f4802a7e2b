// What an agent that has ended by itself still learns from, where rewards are shared.

#include "actors/torch/torch.hpp"

#include "actors/environments/multi_agent_environment.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/multi_agent/off_policy/iql/iql.hpp"
#include "algorithms/multi_agent/on_policy/coma/learner.hpp"
#include "algorithms/multi_agent/on_policy/ippo/ippo.hpp"
#include "algorithms/on_policy/advantage_normalization.hpp"
#include "algorithms/on_policy/policy_learners.hpp"
#include "tests/algorithms/learner_parts.hpp"
#include "tests/algorithms/multi_agent/leaving.hpp"
#include "tests/algorithms/multi_agent/played_rollout.hpp"
#include "tests/algorithms/multi_agent/test_worlds.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using testing::leaving;

/// Two agents see the step and whether agent_0 is there. If agent_0 chooses 1, it has ended, and
/// each later step pays agent_1 4. Until then a step pays agent_0 1. The episode ends after eight
/// steps.
class sacrifice final : public multi_agent_environment {
 public:
  static constexpr int steps = 8;

  env_spec spec() const override {
    const space seen = spaces::box(0, steps, {2});
    return with_joint_spaces(
        {.id = "Sacrifice-v0",
         .agents = {{"agent_0", seen, spaces::discrete(2)}, {"agent_1", seen, spaces::discrete(2)}},
         .agents_vary = true});
  }
  void begin(std::optional<std::uint64_t>, joint_observation obs) override {
    t_ = 0;
    is_there_ = true;
    show(obs);
  }
  void act(joint_action actions, joint_observation obs, std::span<agent_step> results) override {
    if (is_there_) results[0].reward = 1;
    if (!is_there_) results[1].reward = 4;
    ++t_;
    if (is_there_ && actions[0].discrete() == 1) {
      is_there_ = false;
      results[0].ended = episode_end::terminated;
    }
    if (t_ == steps) {
      if (is_there_) results[0].ended = episode_end::terminated;
      results[1].ended = episode_end::terminated;
    }
    show(obs);
  }

 private:
  void show(joint_observation obs) const {
    for (std::size_t i = 0; i < 2; ++i) {
      obs[i][0] = static_cast<float>(t_);
      obs[i][1] = is_there_ ? 1.0f : 0.0f;
    }
  }
  std::int64_t t_ = 0;
  bool is_there_ = true;
};

void register_sacrifice() {
  static const bool known = (register_environment<sacrifice>("Sacrifice-v0"), true);
  static_cast<void>(known);
}

testing::played played_leaving(bool after_end, std::int64_t T = 10, std::size_t B = 4) {
  const auto choose = [](std::int64_t t, std::size_t b, std::size_t i) {
    return static_cast<std::int64_t>((static_cast<std::size_t>(t * t) + b + i) % 3);
  };
  return testing::play<leaving>(T, B, {"p", "p", "p"}, {.critic = central_input::state}, choose,
                                {.weight = 1, .after_end = after_end});
}

/// Changes what the policy answered in rows after an agent's own end.
void answer_otherwise(rollout& r) {
  auto& of = r.policies[0];
  for (std::size_t row = 0; row < of.valid.size(); ++row) {
    if (!r.policies[0].after_end[row]) continue;
    of.log_prob[row] = -9;
    of.discrete[row] = (of.discrete[row] + 1) % 3;
  }
}

}  // namespace

TEST_CASE("policy_learners: rows after an agent's end train the critic and not the policy") {
  const auto [shape, r] = played_leaving(true);
  const auto after = std::ranges::count(r.policies.at(0).after_end, 1);
  CHECK(after == 2 * 4 * 2);  // two steps of one agent in each of two episodes
  for (const auto backend : {gradient_backend::fused, gradient_backend::libtorch}) {
    const auto weights_after = [&](const rollout& with) {
      ippo_config config;
      config.trainer.batch_size = 16;
      config.trainer.n_epochs = 2;
      config.trainer.ent_coef = 0.1;
      config.policy.backend = backend;
      config.seed = 7;
      auto learner = rollout_learner::of_policies(shape, config);
      const auto& report = learner->update({.rollouts = {with}});
      CHECK(report.trained_rows == 4 * (4 + 6 + 10) + after);
      const auto acting = learner->acting();
      return std::vector<float>(acting.begin(), acting.end());
    };
    const auto weights = weights_after(r);
    auto other = r;
    answer_otherwise(other);
    CHECK(weights_after(other) == weights);
    const auto row =
        std::ranges::find(r.policies[0].after_end, 1) - r.policies[0].after_end.begin();
    other.policies[0].reward[static_cast<std::size_t>(row)] += 1;
    CHECK(weights_after(other) != weights);
  }
}

TEST_CASE("policy_learners: each policy learns from its own part of a rollout") {
  const auto choose = [](auto t, auto environment, auto agent) {
    return (t + static_cast<std::int64_t>(environment * 3 + agent)) % 2;
  };
  const auto [shape, r] = testing::play<testing::meeting>(8, 4, {"a", "b"}, {}, choose);
  const auto weights_after = [&](const rollout& with) {
    ippo_config config;
    config.trainer.batch_size = 16;
    auto learner = rollout_learner::of_policies(shape, config);
    learner->update({.rollouts = {with}});
    const auto all = learner->acting();
    const auto half = static_cast<std::ptrdiff_t>(all.size() / 2);
    return std::pair(std::vector<float>(all.begin(), all.begin() + half),
                     std::vector<float>(all.begin() + half, all.end()));
  };
  const auto [a, b] = weights_after(r);
  auto other = r;
  other.policies[1].reward[5] += 1;
  const auto [same, changed] = weights_after(other);
  CHECK(same == a);
  CHECK(changed != b);
}

TEST_CASE("advantage_normalization: rows after an agent's end do not count") {
  const network_shape shape{.obs_size = 1, .discrete_actions = 2};
  rollout_batch batch;
  batch.obs = at::zeros({1, 4, 1});
  batch.action = at::zeros({1, 4}, at::kLong);
  batch.log_prob = at::zeros({1, 4});
  batch.acted = at::tensor({1.0f, 0.0f, 1.0f, 1.0f}).to(at::kBool).view({1, 4});
  const auto zeros = at::zeros({1, 4});
  const detail::training_targets targets{.value = zeros,
                                         .advantage = at::tensor({1.0f, 99.0f, 3.0f, 5.0f}),
                                         .returns = zeros,
                                         .proximal_log_prob = {}};
  const std::vector<detail::row_index> all{0, 1, 2, 3};
  CHECK(detail::acted_rows(batch, all) == std::vector<detail::row_index>{0, 2, 3});
  for (const bool fused : {false, true}) {
    detail::minibatch rows(shape);
    rows.gather(batch, targets, all);
    detail::advantage_normalization(true, fused).apply(rows, 0);
    CHECK(rows.advantage()[0] == Approx(-1));
    CHECK(rows.advantage()[2] == Approx(0).margin(1e-6));
    CHECK(rows.advantage()[3] == Approx(1));
  }
}

TEST_CASE("coma: an agent that has ended trains the critic, which sees no action of it") {
  const auto [shape, r] = played_leaving(true);
  const critic_inputs inputs(shape);
  const auto width = static_cast<std::size_t>(inputs.width(0));
  const auto batch_of = [&](const rollout& with) {
    const training_rollouts given{.rollouts = {with}};
    return coma_batch{to_batch(given, shape_of(shape.policies[0])),
                      inputs.rows_of(given.rollouts, 0)};
  };
  const auto batch = batch_of(r);
  // Row 3 of agent_2 in the first environment: agent_1 ended with step 2, agent_0 before.
  const float* row = batch.critic.steps.data() + (3 * 12 + 2) * width;
  CHECK(std::all_of(row + width - 9, row + width, [](float x) { return x == 0; }));
  const auto weights_after = [&](const rollout& with) {
    coma_options options;
    coma_learner learner(shape_of(shape.policies[0]), inputs.width(0), options, 5);
    const auto report = learner.update(batch_of(with));
    CHECK(report.trained_rows == 4 * (4 + 6 + 10) + 16);
    return parts_of(learner)["critic"];
  };
  const auto critic = weights_after(r);
  auto other = r;
  const auto place =
      std::ranges::find(r.policies[0].after_end, 1) - r.policies[0].after_end.begin();
  other.policies[0].reward[static_cast<std::size_t>(place)] += 1;
  CHECK(weights_after(other) != critic);
}

TEST_CASE("ippo and iql: an agent gives itself up for its team where it shares the reward") {
  register_sacrifice();
  testing::quiet_stage on;
  const auto learned = [&](auto config, bool after_end) {
    config.env = {.id = "Sacrifice-v0", .n_envs = 8};
    config.agents.share = false;
    config.agents.shared_reward = 1;
    config.agents.reward_after_end = after_end;
    config.policy.hidden = {16};
    config.evaluation = {.every_steps = 0, .final_episodes = 10};
    config.checkpoint.every_updates = 0;
    config.deterministic = true;
    const auto name = config.algo + (after_end ? "with" : "without");
    return on.run(algorithm_with(config), name).summary.value().eval_mean;
  };
  // The mean of both agents' returns is 14.5 if agent_0 ends with the first step, 13 if it does so
  // with the second one, 5.5 with the last but one, and 4 if it never does.
  ippo_config ippo;
  ippo.total_steps = 20'000;
  ippo.rollout.n_steps = 16;
  ippo.trainer.batch_size = 128;
  ippo.trainer.lr = 3e-3;
  CHECK(learned(ippo, true) > 12);
  CHECK(learned(ippo, false) < 6);
  iql_config iql;
  iql.total_steps = 20'000;
  iql.collection = {.learning_starts = 500, .train_freq = 8, .gradient_steps = 16};
  iql.replay.capacity = 20'000;
  iql.trainer.batch_size = 32;
  iql.trainer.lr = 2e-3;
  iql.trainer.target_update_interval = 64;
  iql.trainer.tau = 0.05;
  CHECK(learned(iql, true) > 12);
  CHECK(learned(iql, false) < 6);
}

}  // namespace troupe
