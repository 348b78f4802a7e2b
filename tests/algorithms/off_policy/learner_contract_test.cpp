// What DQN's, SAC's and TD3's learners have in common: continuation, backends, numbers that are not
// finite, options out of range, batches that don't fit.

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "algorithms/off_policy/dqn/learner.hpp"
#include "algorithms/off_policy/sac/learner.hpp"
#include "algorithms/off_policy/td3/learner.hpp"
#include "tests/algorithms/learner_parts.hpp"
#include "tests/algorithms/off_policy/random_transitions.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

template <class Learner>
struct kind_of_learner;
template <>
struct kind_of_learner<dqn_learner> {
  using options = dqn_options;
  static network_shape shape() { return {.obs_size = 3, .discrete_actions = 4}; }
};
template <>
struct kind_of_learner<sac_learner> {
  using options = sac_options;
  static network_shape shape() { return {.obs_size = 3, .continuous_size = 2}; }
};
template <>
struct kind_of_learner<td3_learner> {
  using options = td3_options;
  static network_shape shape() { return {.obs_size = 3, .continuous_size = 2}; }
};

template <class Learner>
Learner make(gradient_backend backend = gradient_backend::automatic,
             activation kind = activation::tanh) {
  typename kind_of_learner<Learner>::options options;
  options.lr = 1e-3;
  options.max_skipped_steps = 3;
  options.backend = backend;
  options.network.hidden = {16, 20};
  options.network.hidden_activation = kind;
  return Learner(kind_of_learner<Learner>::shape(), options, 5);
}

transition_batch some_batch(const network_shape& shape, std::uint64_t seed) {
  return random_transitions(shape, 23, seed);
}

template <class Learner>
std::vector<float> weights_of(const Learner& learner) {
  const auto weights = learner.policy().parameters();
  return {weights.begin(), weights.end()};
}

}  // namespace

TEMPLATE_TEST_CASE("learner: a restored state continues bit for bit", "[off_policy]", dqn_learner,
                   sac_learner, td3_learner) {
  const auto shape = kind_of_learner<TestType>::shape();
  auto learner = make<TestType>();
  for (int i = 0; i < 5; ++i) learner.update(some_batch(shape, i));
  auto other = make<TestType>();
  other.restore(learner.save());
  for (int i = 5; i < 12; ++i) {
    learner.update(some_batch(shape, i));
    other.update(some_batch(shape, i));
  }
  CHECK((weights_of(learner) == weights_of(other)));
  CHECK(parts_of(learner).numbers["n_updates"] == 12);
  CHECK(parts_of(other).random == parts_of(learner).random);

  typename kind_of_learner<TestType>::options options;
  options.network.hidden = {16, 21};
  TestType larger(shape, options, 5);
  const auto before = weights_of(larger);
  CHECK_THROWS_WITH(larger.restore(learner.save()), Catch::Contains(" state: "));
  CHECK((weights_of(larger) == before));
  CHECK(parts_of(larger).numbers["n_updates"] == 0);
}

TEMPLATE_TEST_CASE("learner: libtorch's backend goes the same way", "[off_policy]", dqn_learner,
                   sac_learner, td3_learner) {
  const auto shape = kind_of_learner<TestType>::shape();
  auto fused = make<TestType>(gradient_backend::fused);
  auto libtorch = make<TestType>(gradient_backend::libtorch);
  const auto first = weights_of(fused);
  for (int i = 0; i < 10; ++i) {
    fused.update(some_batch(shape, i));
    libtorch.update(some_batch(shape, i));
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
  CHECK(moved > 3e-3);  // five or ten steps of 1e-3
  CHECK(apart < 3e-4);
}

TEMPLATE_TEST_CASE("learner: what has no fused gradient is libtorch's", "[off_policy]", dqn_learner,
                   sac_learner, td3_learner) {
  CHECK_THROWS_WITH(make<TestType>(gradient_backend::fused, activation::silu),
                    Catch::Contains("activation silu has no fused gradient"));
  auto learner = make<TestType>(gradient_backend::automatic, activation::silu);
  const auto before = weights_of(learner);
  for (int i = 0; i < 2; ++i) learner.update(some_batch(kind_of_learner<TestType>::shape(), i));
  CHECK((weights_of(learner) != before));
}

TEMPLATE_TEST_CASE("learner: a batch that is not finite is skipped, three in a row end it",
                   "[off_policy]", dqn_learner, sac_learner, td3_learner) {
  const auto shape = kind_of_learner<TestType>::shape();
  auto learner = make<TestType>();
  auto bad = some_batch(shape, 1);
  bad.reward[7] = std::numeric_limits<float>::quiet_NaN();
  for (auto& t : bad.terminated) t = 1.0f;
  const auto before = weights_of(learner);
  for (int i = 0; i < 2; ++i) CHECK(learner.update(bad).skipped_steps == 1);
  CHECK((weights_of(learner) == before));
  CHECK(learner.update(some_batch(shape, 2)).skipped_steps == 0);
  for (int i = 0; i < 2; ++i) CHECK(learner.update(bad).skipped_steps == 1);
  CHECK_THROWS_AS(learner.update(bad), non_finite_training);
  for (const float w : weights_of(learner)) CHECK(std::isfinite(w));
}

TEMPLATE_TEST_CASE("learner: options and batches that are wrong are named", "[off_policy]",
                   dqn_learner, sac_learner, td3_learner) {
  const auto shape = kind_of_learner<TestType>::shape();
  typename kind_of_learner<TestType>::options options;
  options.lr = -1.0;
  CHECK_THROWS_WITH(TestType(shape, options, 1),
                    Catch::Contains("/lr: expected a number > 0, got -1"));
  CHECK_THROWS_AS(TestType({.obs_size = 3, .multi_discrete = {2, 2}}, {}, 1),
                  std::invalid_argument);
  auto learner = make<TestType>();
  auto batch = some_batch(shape, 1);
  batch.next_obs.pop_back();
  CHECK_THROWS_WITH(learner.update(batch), Catch::Contains("next_obs has 68 numbers, expected 69"));
}

TEMPLATE_TEST_CASE("learner: a linear schedule scales the learning rate by what remains",
                   "[off_policy]", dqn_learner, sac_learner, td3_learner) {
  const auto shape = kind_of_learner<TestType>::shape();
  typename kind_of_learner<TestType>::options options;
  options.network.hidden = {16};
  options.lr = 5e-4;
  TestType constant(shape, options, 5);
  options.lr = 1e-3;
  options.lr_schedule = annealing::linear;
  TestType linear(shape, options, 5);
  for (int i = 0; i < 4; ++i) {
    CHECK(constant.update(some_batch(shape, i), 0.5).learning_rate == 5e-4);
    CHECK(linear.update(some_batch(shape, i), 0.5).learning_rate == 5e-4);
  }
  CHECK((weights_of(linear) == weights_of(constant)));
  const auto before = weights_of(linear);
  linear.update(some_batch(shape, 4), 0.0);
  CHECK((weights_of(linear) == before));
}

double loss_of(const learner_report& made) {
  return made[made.has("train/loss") ? "train/loss" : "train/critic_loss"];
}

TEMPLATE_TEST_CASE("learner: weights of a batch scale its rows", "[off_policy]", dqn_learner,
                   sac_learner, td3_learner) {
  for (const auto backend : {gradient_backend::fused, gradient_backend::libtorch}) {
    auto batch = some_batch(kind_of_learner<TestType>::shape(), 1);
    auto learner = make<TestType>(backend);
    const auto start = parts_of(learner);
    const double plain = loss_of(learner.update(batch));
    set_parts(learner, start);
    batch.weight.assign(23, 0.5f);
    CHECK(loss_of(learner.update(batch)) == Approx(plain / 2));
  }
}

}  // namespace troupe
