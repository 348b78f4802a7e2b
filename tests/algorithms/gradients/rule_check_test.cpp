// The check of update rules: it finds no fault in the built-in ones, and each kind of wrong
// gradient.

#include "actors/torch/torch.hpp"

#include "algorithms/learner/rule_check.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include "algorithms/off_policy/dqn/learner.hpp"
#include "algorithms/off_policy/sac/learner.hpp"
#include "algorithms/off_policy/td3/learner.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"
#include "algorithms/on_policy/random_update.hpp"
#include "tests/actors/networks/gated.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

const network_shape choices{.obs_size = 4, .discrete_actions = 3};
const network_shape moves{.obs_size = 4, .continuous_size = 2};

constexpr gradient_backend backends[] = {gradient_backend::fused, gradient_backend::libtorch};

std::set<std::string> losses_of(const rule_report& report) {
  std::set<std::string> names;
  for (const auto& each : report.tensors) names.insert(each.loss);
  return names;
}

bool has(const rule_report& report, gradient_verdict verdict) {
  return std::ranges::count(report.tensors, verdict, &checked_tensor::verdict) > 0;
}

template <class Learner, class Options>
rule_report report_of(const network_shape& shape, Options options) {
  options.network.hidden = {16, 16};
  return check_rule(
      [&]() -> std::function<void()> {
        return [learner = std::make_shared<Learner>(shape, options, 1),
                batch = random_batch(shape, 32, 5)] { learner->update(batch); };
      },
      7);
}

using rule = std::function<variable(const ppo_loss_inputs& in)>;

/// A random update of a single policy.
std::function<void()> random_update_of(std::unique_ptr<on_policy_learner> learner,
                                       const on_policy_options& options) {
  const auto shape = learner->model().shape();
  std::vector<std::unique_ptr<on_policy_learner>> learners;
  learners.push_back(std::move(learner));
  const auto batch_of = [shape](const training_rollouts& given, std::size_t) {
    return to_batch(given, shape);
  };
  return random_update(std::make_shared<policy_learners<on_policy_learner>>(
                           "ppo", learning_of(options), shape, std::move(learners), batch_of),
                       shape, options.network, 5);
}

/// The report of an on-policy rule.
rule_report report_of(const rule& loss_of, gradient_backend backend, std::uint64_t seed = 7) {
  on_policy_options options;
  options.network.hidden = {16};
  options.network.backend = backend;
  return check_rule(
      [&] {
        on_policy_loss loss{.name = "own", .function = [&](const ppo_loss_inputs& in, double) {
                              const auto result = loss_of(in);
                              return ppo_loss_result{result, {.loss = number(result)}};
                            }};
        return random_update_of(
            std::make_unique<on_policy_learner>(choices, options, std::move(loss), 1), options);
      },
      seed);
}

variable policy_loss(const ppo_loss_inputs& in) {
  return -mean(exp(in.log_prob - in.behaviour_log_prob) * in.advantage);
}

TEST_CASE("check_rule: PPO's gradient is right, with choices and with moves") {
  for (const auto& shape : {choices, moves}) {
    for (const auto backend : backends) {
      ppo_options options;
      options.ent_coef = 0.01;
      options.clip_range_vf = 0.3;
      options.network.hidden = {16, 16};
      options.network.backend = backend;
      const auto report = check_rule(
          [&] {
            return random_update_of(std::make_unique<ppo_learner>(shape, options, 1), options);
          },
          7);
      CHECK(report.is_right());
      CHECK(!has(report, gradient_verdict::unused));
      CHECK(report.tensors.size() == (shape.is_continuous() ? 13 : 12));
    }
  }
}

TEST_CASE("check_rule: every loss of DQN, TD3 and SAC has the right gradient") {
  for (const auto backend : backends) {
    dqn_options dqn;
    dqn.backend = backend;
    dqn.dueling = dqn.double_q = true;
    const auto of_dqn = report_of<dqn_learner>(choices, dqn);
    CHECK(of_dqn.is_right());
    CHECK(losses_of(of_dqn).size() == 1);
    td3_options td3;
    td3.backend = backend;
    const auto of_td3 = report_of<td3_learner>(moves, td3);
    CHECK(of_td3.is_right());
    CHECK(losses_of(of_td3).size() == 2);  // the actor has its own in every second update
    sac_options sac;
    sac.backend = backend;
    const auto of_sac = report_of<sac_learner>(moves, sac);
    CHECK(of_sac.is_right());
    CHECK(losses_of(of_sac).size() == 2);
  }
}

TEST_CASE("check_rule: a network that the loss reads outside of the graph has no gradient") {
  for (const auto backend : backends) {
    const auto report = report_of(
        [](const ppo_loss_inputs& in) {
          const auto value = in.value.owner().constant(values(in.value));
          return policy_loss(in) + mean(square(value - in.returns));
        },
        backend);
    CHECK(!report.is_right());
    CHECK(has(report, gradient_verdict::missing));
    CHECK(has(report, gradient_verdict::right));  // the policy's
  }
}

TEST_CASE("check_rule: a factor that is read outside of the graph makes the gradient wrong") {
  for (const auto backend : backends) {
    const auto report = report_of(
        [](const ppo_loss_inputs& in) {
          const auto entropy = in.entropy.owner().constant(values(in.entropy));
          return policy_loss(in) + mean(square(in.value - in.returns)) +
                 mean(entropy * in.log_prob);
        },
        backend);
    CHECK(!report.is_right());
    CHECK(has(report, gradient_verdict::wrong));
  }
}

TEST_CASE("check_rule: stop_gradient makes constants, and a critic may be left out") {
  for (const auto backend : backends) {
    const auto report = report_of(
        [](const ppo_loss_inputs& in) {
          return policy_loss(in) + mean(stop_gradient(in.entropy) * in.log_prob);
        },
        backend);
    CHECK(report.is_right());
    CHECK(has(report, gradient_verdict::unused));
  }
}

TEST_CASE("check_rule: a corner of the loss is told from a wrong gradient") {
  const auto report = report_of(
      [](const ppo_loss_inputs& in) {
        return policy_loss(in) + mean(maximum(in.value, stop_gradient(in.value)));
      },
      gradient_backend::fused);
  CHECK(!report.is_right());
  CHECK(has(report, gradient_verdict::rough));
  CHECK(!has(report, gradient_verdict::wrong));
}

TEST_CASE("check_rule: corners that a smaller step leaves outside are none") {
  for (const auto backend : backends) {
    // Its slope is 2, and 0 as soon as the value has moved by 0.0001 in either direction.
    const auto report = report_of(
        [](const ppo_loss_inputs& in) {
          const auto moved = in.value - stop_gradient(in.value);
          return policy_loss(in) + mean(abs(moved + 1e-4f) - abs(moved - 1e-4f));
        },
        backend);
    CHECK(report.is_right());
  }
}

TEST_CASE("check_rule: a gradient that lacks a tenth is wrong, beside a corner, too") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    const auto report = report_of(
        [](const ppo_loss_inputs& in) {
          const auto error = square(in.value - in.returns + 3.0f);
          const auto unseen = in.value.owner().constant(values(error));
          return policy_loss(in) + mean(error + 0.1f * unseen) +
                 0.05f * mean(maximum(in.value, stop_gradient(in.value)));
        },
        backends[seed % 2], seed);
    CHECK(std::ranges::count(report.tensors, gradient_verdict::wrong, &checked_tensor::verdict) ==
          4);  // the critic's
  }
}

TEST_CASE(
    "check_rule: DQN's gradient through a network of one's own is not wrong, whatever the seed") {
  register_gated();
  const network_shape shape{.obs_size = 4, .discrete_actions = 2};
  int rough = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    dqn_options options;
    options.network.hidden = {64, 64};
    options.network.encoder = "gated";
    const auto report = check_rule(
        [&]() -> std::function<void()> {
          return [learner = std::make_shared<dqn_learner>(shape, options, 0),
                  batch = random_batch(shape, 64, seed)] { learner->update(batch); };
        },
        seed);
    CHECK(!has(report, gradient_verdict::wrong));
    rough += has(report, gradient_verdict::rough) ? 1 : 0;
  }
  CHECK(rough <= 2);  // a hidden unit may switch within the smallest step
}

TEST_CASE("check_rule: a rule without a loss, and one that changes, are refused") {
  CHECK_THROWS_WITH(check_rule([] { return [] {}; }, 1),
                    Catch::Contains("differentiates a loss on a graph, got none"));
  int calls = 0;
  CHECK_THROWS_WITH(report_of(
                        [&](const ppo_loss_inputs& in) {
                          return ++calls > 1 ? policy_loss(in) + mean(stop_gradient(in.value))
                                             : policy_loss(in);
                        },
                        gradient_backend::fused),
                    Catch::Contains("does the same in each repetition"));
}

}  // namespace
}  // namespace troupe
