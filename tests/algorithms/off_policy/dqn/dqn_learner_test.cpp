#include "algorithms/off_policy/dqn/learner.hpp"
#include "tests/algorithms/learner_parts.hpp"

#include <cmath>

#include "tests/test.hpp"

namespace troupe {
namespace {

// One observation x, two actions, no hidden layer: Q(x) = (x, 2 x) online, (10 x, 3 x) target.
dqn_learner linear(dqn_options options) {
  options.network.hidden = {};
  dqn_learner learner({.obs_size = 1, .discrete_actions = 2}, options, 1);
  auto state = parts_of(learner);
  state["parameters"] = {1.0f, 2.0f, 0.0f, 0.0f};
  state["target"] = {10.0f, 3.0f, 0.0f, 0.0f};
  set_parts(learner, state);
  return learner;
}

// The second row's episode is over.
transition_batch two_rows() {
  transition_batch batch;
  batch.resize(2, {.obs_size = 1, .discrete_actions = 2});
  batch.obs = {1.0f, 1.0f};
  batch.choice = {0, 1};
  batch.reward = {0.5f, 1.75f};
  batch.next_obs = {2.0f, 2.0f};
  batch.terminated = {0.0f, 1.0f};
  batch.discount = {0.9f, 0.9f};
  return batch;
}

}  // namespace

TEST_CASE("dqn: targets bootstrap where no episode was terminated", "[dqn]") {
  // Row 0: .5 + .9 max(20, 6) = 18.5 against Q = 1; row 1: 1.75 against Q = 2.
  auto learner = linear({});
  const auto metrics = learner.update(two_rows());
  CHECK(learner.last().td_errors[0] == Approx(17.5));
  CHECK(learner.last().td_errors[1] == Approx(0.25));
  CHECK(metrics["train/loss"] == Approx((17.0 + 0.03125) / 2));  // Huber: linear beyond 1
  CHECK(metrics["train/q_mean"] == Approx(1.5));
  // d loss / d Q = -1/2 and .25/2, d Q / d weight = 1, d Q / d bias = 1
  CHECK(learner.gradient()[0] == Approx(-0.5));
  CHECK(learner.gradient()[1] == Approx(0.125));
  CHECK(metrics["train/grad_norm"] == Approx(std::sqrt(2 * (0.25 + 0.015625))));
}

TEST_CASE("dqn: weight decay shrinks all parameters, or leaves out biases", "[dqn]") {
  const auto stepped = [](double decay, decayed_parameters of) {
    dqn_options options;
    options.lr = 0.1;
    options.weight_decay = decay;
    options.weight_decay_of = of;
    auto learner = linear(options);
    auto state = parts_of(learner);
    state["parameters"] = {1.0f, 2.0f, 3.0f, 4.0f};  // two weights and two biases
    set_parts(learner, state);
    learner.update(two_rows());
    return parts_of(learner)["parameters"];
  };
  const auto plain = stepped(0, decayed_parameters::all);
  const auto all = stepped(0.5, decayed_parameters::all);
  const auto matrices = stepped(0.5, decayed_parameters::matrices);
  for (std::size_t i = 0; i < 4; ++i) {
    const double decayed = plain[i] - 0.1 * 0.5 * static_cast<double>(i + 1);
    CHECK(all[i] == Approx(decayed));
    CHECK(matrices[i] == Approx(i < 2 ? decayed : plain[i]));
  }
}

TEST_CASE("dqn: double takes the target's value of the online network's choice", "[dqn]") {
  // Online prefers action 1 at x = 2, which the target values 6: .5 + .9 * 6 = 5.9.
  dqn_options double_q;
  double_q.double_q = true;
  auto learner = linear(double_q);
  learner.update(two_rows());
  CHECK(learner.last().td_errors[0] == Approx(4.9));
}

TEST_CASE("dqn: dueling adds the centred advantages to the value", "[dqn]") {
  dqn_options options;
  options.dueling = true;
  options.network.hidden = {};
  dqn_learner learner({.obs_size = 1, .discrete_actions = 2}, options, 1);
  auto state = parts_of(learner);
  REQUIRE(state["parameters"].size() == 6);
  state["parameters"] = {5.0f, 1.0f, 3.0f,
                         0.0f, 0.0f, 0.0f};  // V = 5 x, A = (x, 3 x): Q = 4 x, 6 x
  state["target"] = state["parameters"];
  set_parts(learner, state);
  learner.update(two_rows());
  CHECK(learner.last().td_errors[0] == Approx(0.5 + 0.9 * 12 - 4));
  CHECK(learner.last().td_errors[1] == Approx(6 - 1.75));
  action_random random(1);
  std::int64_t choice = 0;
  const float x = 1.0f;
  learner.policy().act(&x, 1, random, true, {.choice = &choice});
  CHECK(choice == 1);
}

TEST_CASE("dqn: the target is copied, or follows by tau", "[dqn]") {
  auto hard = linear({});
  hard.update_target();
  CHECK(hard.target()[0] == 1.0f);
  dqn_options quarter;
  quarter.tau = 0.25;
  auto soft = linear(quarter);
  soft.update_target();
  CHECK(soft.target()[0] == Approx(0.75 * 10 + 0.25 * 1));
  CHECK(soft.target()[1] == Approx(0.75 * 3 + 0.25 * 2));
}

TEST_CASE("dqn: exploration draws each row by itself", "[dqn]") {
  auto learner = linear({});
  learner.policy().set_exploration(0.3);
  action_random random(4);
  const std::vector<float> obs(4000, 1.0f);
  std::vector<std::int64_t> choice(obs.size());
  learner.policy().act(obs.data(), 4000, random, false, {.choice = choice.data()});
  // Action 1 is the best; the other comes by half of the explored rows: 600, deviation 22.6.
  const auto others = std::count(choice.begin(), choice.end(), 0);
  CHECK(others > 600 - 4 * 23);
  CHECK(others < 600 + 4 * 23);
  learner.policy().act(obs.data(), 4000, random, true, {.choice = choice.data()});
  CHECK(std::count(choice.begin(), choice.end(), 0) == 0);
}

TEST_CASE("dqn: learns which of two actions the observation rewards", "[dqn]") {
  const network_shape shape{.obs_size = 1, .discrete_actions = 2};
  dqn_options options;
  options.lr = 3e-3;
  dqn_learner learner(shape, options, 1);
  action_random random(2);
  transition_batch batch;
  batch.resize(32, shape);
  std::fill(batch.terminated.begin(), batch.terminated.end(), 1.0f);
  for (int i = 0; i < 300; ++i) {
    random.fill_normal(batch.obs);
    for (int row = 0; row < 32; ++row) {
      batch.choice[row] = static_cast<std::int64_t>(random.below(2));
      batch.reward[row] = (batch.obs[row] > 0.0f) == (batch.choice[row] == 1) ? 1.0f : 0.0f;
    }
    learner.update(batch);
  }
  const std::vector<float> obs = {-1.5f, -0.4f, 0.4f, 1.5f};
  std::vector<std::int64_t> choice(4);
  learner.policy().act(obs.data(), 4, random, true, {.choice = choice.data()});
  CHECK(choice == std::vector<std::int64_t>{0, 0, 1, 1});
}

TEST_CASE("dqn: convolutions learn which half of a picture is bright", "[dqn]") {
  const network_shape picture{.obs_size = 64, .discrete_actions = 2, .image = {1, 8, 8}};
  dqn_options options;
  options.lr = 1e-2;
  options.network.cnn = {.channels = {2}, .kernels = {4}, .strides = {4}, .features = 8};
  dqn_learner learner(picture, options, 1);
  transition_batch batch;
  batch.resize(4, picture);
  batch.choice = {0, 1, 0, 1};
  batch.reward = {1.0f, 0.0f, 0.0f, 1.0f};  // for the bright half: left twice, then right
  batch.terminated.assign(4, 1.0f);
  batch.discount.assign(4, 0.99f);
  for (std::size_t i = 0; i < batch.obs.size(); ++i) {
    const bool left = i % 8 < 4, of_left = i / 64 < 2;
    batch.obs[i] = batch.next_obs[i] = left == of_left ? 255.0f : 0.0f;
  }
  const double before = learner.update(batch)["train/loss"];
  double after = before;
  for (int i = 0; i < 300; ++i) after = learner.update(batch)["train/loss"];
  CHECK(before > 0.05);
  CHECK(after < 1e-3);
  std::int64_t choice = -1;
  action_random random(1);
  learner.policy().act(batch.obs.data() + 3 * 64, 1, random, true, {.choice = &choice});
  CHECK(choice == 1);

  options.backend = gradient_backend::fused;
  CHECK_THROWS_WITH(dqn_learner(picture, options, 1),
                    Catch::Contains("policy.backend fused: convolutions have no fused gradient"));
}

TEST_CASE("dqn: networks that can't be are refused", "[dqn]") {
  const auto refuses = [](const network_shape& shape, const network_options& network) {
    dqn_options options;
    options.network = network;
    CHECK_THROWS_WITH(dqn_learner(shape, options, 1), Catch::Contains("expected one discrete"));
  };
  refuses({.obs_size = 4, .discrete_actions = 2}, {.hidden = {8, 0}});
  refuses({.obs_size = 0, .discrete_actions = 2}, {});
  refuses({.obs_size = 4, .discrete_actions = 0}, {});
  refuses({.obs_size = 4, .continuous_size = 2}, {});
}

}  // namespace troupe
