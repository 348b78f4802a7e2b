// An off-policy algorithm of a user's own, which differs from TD3 in its targets alone: they take a
// weighted mean of the smallest and the largest critic (Fujimoto et al. 2019,
// https://arxiv.org/abs/1812.02900, equation 10). What it takes stands above the test cases.

#include "actors/torch/torch.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "algorithms/off_policy/td3/td3.hpp"
#include "algorithms/run/train.hpp"
#include "runtime/config/config.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/learner_parts.hpp"
#include "tests/algorithms/off_policy/random_transitions.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

// ---- its configuration

struct mixed_td3_config : td3_config {
  mixed_td3_config() { algo = "mixed_td3"; }

  double smallest_weight = 0.75;  ///< lambda; the largest critic has the rest
};

void describe(options_schema<mixed_td3_config>& s) {
  describe_td3(s);
  s.field("smallest_weight", &mixed_td3_config::smallest_weight)
      .at_least(0)
      .at_most(1)
      .help("share of the smallest critic in a target; the largest has the rest");
}

// ---- its rule

/// lambda min_i q_i + (1 - lambda) max_i q_i
bootstrap_rule mixed_rule(double smallest_weight) {
  return [share = static_cast<float>(smallest_weight)](variable q, const auto&) {
    return share * row_min(q) + (1.0f - share) * row_max(q);
  };
}

// ---- the algorithm

algorithm algorithm_with(const mixed_td3_config& config) {
  return td3_algorithm(config, mixed_rule(config.smallest_weight));
}

// ---- what is expected of it

const network_shape shape{.obs_size = 3, .continuous_size = 2};
constexpr int rows = 23;

td3_options options_with(gradient_backend backend) {
  td3_options options;
  options.n_critics = 3;
  options.network.hidden = {16};
  options.backend = backend;
  options.target_policy_noise = 0;
  return options;
}

/// Of one row by row what the target critics say, for the target actor's action.
std::vector<std::vector<float>> target_values(const td3_learner& learner,
                                              const transition_batch& batch) {
  const auto& critic = learner.critics().network();
  const auto saved = parts_of(learner)["target_actor"];
  const detail::float_block target_actor(saved.begin(), saved.end());
  detail::mlp_buffers buffers;
  const float* action =
      learner.policy().network().forward(target_actor.data(), batch.next_obs.data(), rows, buffers);
  std::vector<float> joined;
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < 3; ++i) joined.push_back(batch.next_obs[row * 3 + i]);
    for (int i = 0; i < 2; ++i) joined.push_back(std::clamp(action[row * 2 + i], -1.0f, 1.0f));
  }
  std::vector<std::vector<float>> q(rows);
  for (int i = 0; i < 3; ++i) {
    detail::mlp_buffers of_critic;
    const float* values =
        critic.forward(learner.critics().target().data() + i * learner.critics().stride(),
                       joined.data(), rows, of_critic);
    for (int row = 0; row < rows; ++row) q[row].push_back(values[row]);
  }
  return q;
}

/// The mean over critics of their distance from a target, of each row.
std::vector<double> distances(const td3_learner& learner, const transition_batch& batch,
                              const std::vector<double>& target) {
  std::vector<float> joined;
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < 3; ++i) joined.push_back(batch.obs[row * 3 + i]);
    for (int i = 0; i < 2; ++i) joined.push_back(batch.action[row * 2 + i]);
  }
  std::vector<double> found(rows);
  for (int i = 0; i < 3; ++i) {
    detail::mlp_buffers buffers;
    const float* q = learner.critics().network().forward(
        learner.critics().parameters().data() + i * learner.critics().stride(), joined.data(), rows,
        buffers);
    for (int row = 0; row < rows; ++row) found[row] += std::abs(q[row] - target[row]) / 3;
  }
  return found;
}

TEST_CASE("an own target: the critics are fitted to what the rule says, by either backend") {
  const auto batch = random_transitions(shape, rows, 7);
  for (const auto backend : {gradient_backend::fused, gradient_backend::libtorch}) {
    for (const double weight : {0.0, 0.75, 1.0}) {
      CAPTURE(weight);
      td3_learner learner(shape, options_with(backend), 5, mixed_rule(weight));
      std::vector<double> target;
      for (const auto& q : target_values(learner, batch)) {
        const auto [least, most] = std::ranges::minmax(q);
        const auto row = target.size();
        CHECK(least < most);
        target.push_back(batch.reward[row] + batch.discount[row] * (1 - batch.terminated[row]) *
                                                 (weight * least + (1 - weight) * most));
      }
      const auto expected = distances(learner, batch, target);
      learner.update(batch);
      for (int row = 0; row < rows; ++row) {
        CHECK(learner.last().td_errors[row] == Approx(expected[row]).margin(1e-5));
      }
    }
  }
}

TEST_CASE("an own target: with the smallest critic alone it is TD3, bit for bit") {
  for (const auto backend : {gradient_backend::fused, gradient_backend::libtorch}) {
    td3_learner own(shape, options_with(backend), 5, mixed_rule(1.0));
    td3_learner td3(shape, options_with(backend), 5);
    for (int i = 0; i < 6; ++i) {
      const auto batch = random_transitions(shape, rows, i);
      own.update(batch);
      td3.update(batch);
    }
    CHECK((parts_of(own)["critics"] == parts_of(td3)["critics"]));
    CHECK((parts_of(own)["actor"] == parts_of(td3)["actor"]));
  }
}

/// TD3 whose next values count the updates.
class counting_learner final : public td3_learner {
 public:
  using td3_learner::td3_learner;
  void visit_state(state_visitor& visit) override {
    td3_learner::visit_state(visit);
    visit("count", count_);
  }

 private:
  variable next_value(variable q, const transition_batch&) override {
    return 0.0f * row_min(q) + static_cast<float>(++count_);
  }

  std::int64_t count_ = 0;
};

TEST_CASE("an own target: a rule with a state goes on where it was saved") {
  for (const auto backend : {gradient_backend::fused, gradient_backend::libtorch}) {
    counting_learner own(shape, options_with(backend), 5), other(shape, options_with(backend), 6);
    const auto batch = random_transitions(shape, rows, 7);
    for (int i = 0; i < 3; ++i) own.update(batch);
    other.restore(own.save());
    own.update(batch);
    other.update(batch);
    CHECK(own.last().td_errors == other.last().td_errors);
    CHECK((parts_of(own)["critics"] == parts_of(other)["critics"]));
    CHECK(parts_of(other).numbers["count"] == 4);
  }
}

TEST_CASE("an own target: a run trains with it, by the options of its configuration") {
  const temporary_folder folder;
  std::set<std::string> ends;
  for (const char* weight : {"smallest_weight=0", "smallest_weight=1"}) {
    const auto config = parse_config<mixed_td3_config>(load_config(
        {}, {weight, "total_steps=48", "collection.learning_starts=15", "collection.train_freq=4",
             "collection.gradient_steps=4", "trainer.batch_size=8", "replay.capacity=1000",
             "policy.hidden=[8]", "evaluation.final_episodes=1", "deterministic=true"}));
    system sys({.threads = 1, .deterministic = true});
    const auto summary = sys.run(train_in(sys, config, {.root = folder.path}));
    CHECK(summary.algo == "mixed_td3");
    CHECK(summary.steps == 48);
    ends.insert(summary.weights_sha256);
  }
  CHECK(ends.size() == 2);
}

}  // namespace
}  // namespace troupe
