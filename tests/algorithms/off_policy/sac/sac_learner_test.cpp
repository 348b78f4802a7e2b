#include "algorithms/off_policy/sac/learner.hpp"
#include "tests/algorithms/learner_parts.hpp"

#include <cmath>
#include <numbers>

#include "actors/gradients/kernel_graph.hpp"
#include "algorithms/losses/squashed_gaussian.hpp"
#include "tests/algorithms/off_policy/aim_batch.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

sac_options small() {
  sac_options options;
  options.lr = 3e-3;
  options.network.hidden = {32, 32};
  return options;
}

}  // namespace

TEST_CASE("squashed_gaussian: log-probabilities equal the change of variables", "[sac]") {
  // mean, mean, log std, log std; the second row's standard deviation is beyond the bound of e^2
  const std::vector<float> outputs = {0.3f, -0.5f, -1.0f, 0.2f, 0.0f, 1.0f, 5.0f, -30.0f};
  const std::vector<float> noise = {0.7f, -1.1f, 0.4f, 0.3f};
  kernel_graph g;
  const auto drawn = squashed_gaussian(g.constant(outputs, 4), noise);
  const auto actions = g.values(drawn.action), log_probs = g.values(drawn.log_prob);
  for (int row = 0; row < 2; ++row) {
    double log_prob = 0.0;
    for (int i = 0; i < 2; ++i) {
      const double log_std = std::clamp(static_cast<double>(outputs[4 * row + 2 + i]), -20.0, 2.0);
      const double z = noise[2 * row + i];
      const double u = outputs[4 * row + i] + std::exp(log_std) * z;
      log_prob += -0.5 * z * z - log_std - 0.5 * std::log(2 * std::numbers::pi) -
                  2 * (std::numbers::ln2 - u - std::log1p(std::exp(-2 * u)));
      CHECK(actions[2 * row + i] == Approx(std::tanh(u)).margin(2e-7));
    }
    CHECK(log_probs[row] == Approx(log_prob).epsilon(1e-6));
  }
}

TEST_CASE("squashed_gaussian: far in the tails numbers stay finite and right", "[sac]") {
  for (const float mean : {-40.0f, -15.0f, 15.0f, 40.0f}) {
    const std::vector<float> outputs = {mean, -1.0f}, noise = {0.0f};
    std::vector<float> gradient(2);
    kernel_graph g;
    const auto drawn = squashed_gaussian(g.parameter({outputs, gradient}, 0, 1, 2), noise);
    // log(1 - tanh(u)^2) = log 4 - 2 |u| there
    const double expected =
        1.0 - 0.5 * std::log(2 * std::numbers::pi) - (std::log(4.0) - 2.0 * std::abs(mean));
    CHECK(g.values(drawn.log_prob)[0] == Approx(expected).epsilon(1e-6));
    CHECK(std::abs(g.values(drawn.action)[0]) <= 1.0f);
    g.backward(troupe::mean(0.5f * drawn.log_prob + drawn.action));
    CHECK(gradient[0] == Approx(mean > 0 ? 1.0 : -1.0).margin(1e-5));  // d log pi / du = 2 tanh u
    CHECK(gradient[1] == Approx(-0.5));
  }
}

TEST_CASE("squashed_noise: actions and log-probabilities of a matrix that all rows share",
          "[sac]") {
  const std::vector<float> mean = {0.3f, -0.5f, 7.0f};  // the last is clipped to 2
  const std::vector<float> phi = {1, 2, -0.5f, 0, 0.1f, 0.2f};
  const std::vector<float> parameters = {-1.0f, -0.5f}, draw = {0.8f, -1.2f};
  kernel_graph g;
  const auto drawn = squashed_noise(g.constant(mean, 1), g.constant(phi, 2),
                                    g.constant(parameters, 1), draw, false);
  const auto actions = g.values(drawn.action), log_probs = g.values(drawn.log_prob);
  for (int row = 0; row < 3; ++row) {
    double departure = 0.0, variance = 1e-6;
    for (int h = 0; h < 2; ++h) {
      const double part = phi[2 * row + h] * std::exp(static_cast<double>(parameters[h]));
      departure += part * draw[h];
      variance += part * part;
    }
    const double u = std::min<double>(mean[row], 2.0) + departure;
    CHECK(actions[row] == Approx(std::tanh(u)).margin(3e-7));
    CHECK(log_probs[row] ==
          Approx(-0.5 * departure * departure / variance - 0.5 * std::log(variance) -
                 0.5 * std::log(2 * std::numbers::pi) - std::log1p(-std::tanh(u) * std::tanh(u)))
              .epsilon(1e-5));
  }
}

TEST_CASE("sac: alpha falls while the policy is wider than the target entropy, else rises",
          "[sac]") {
  action_random random(1);
  const auto batch = aim(random, 64);
  for (const double target : {-20.0, 20.0}) {
    auto options = small();
    options.target_entropy = target;
    sac_learner learner(one_action, options, 1);
    const auto first = learner.update(batch);
    CHECK(first["train/ent_coef"] ==
          Approx(1.0));  // what the step used is the value before its own update
    CHECK(first["train/ent_coef_loss"] == Approx(0.0).margin(1e-12));
    CHECK((learner.ent_coef() < 1.0) == (target < 0.0));
  }
  auto held = small();
  held.ent_coef = 0.3;
  sac_learner learner(one_action, held, 1);
  CHECK_FALSE(learner.update(batch).has("train/ent_coef_loss"));
  CHECK(learner.ent_coef() == 0.3);
}

TEST_CASE("sac: by default the entropy is held at minus the numbers of an action", "[sac]") {
  const network_shape shape{.obs_size = 1, .continuous_size = 3};
  auto options = small();
  options.initial_ent_coef = std::numbers::e;
  sac_learner learner(shape, options, 1);
  transition_batch batch;
  batch.resize(16, shape);
  const auto metrics = learner.update(batch);
  // Of log alpha = 1 the loss is the entropy less its target.
  CHECK(metrics["train/entropy"] - metrics["train/ent_coef_loss"] == Approx(-3));
}

TEST_CASE("sac: targets follow the critics every target_update_interval steps", "[sac]") {
  auto options = small();
  options.tau = 1.0;
  options.target_update_interval = 2;
  sac_learner learner(one_action, options, 1);
  action_random random(1);
  const auto batch = aim(random, 16);
  const auto start = parts_of(learner)["target"];
  learner.update(batch);
  CHECK(parts_of(learner)["target"] == start);
  learner.update(batch);
  CHECK(parts_of(learner)["target"] == parts_of(learner)["critics"]);
}

TEST_CASE("sac: learns the action that the observation asks for", "[sac]") {
  auto options = small();
  options.ent_coef = 0.01;
  options.network.use_sde = GENERATE(false, true);
  options.network.log_std_init = -3.0f;
  sac_learner learner(one_action, options, 1);
  action_random random(2);
  for (int i = 0; i < 1500; ++i) learner.update(aim(random, 64));
  const std::vector<float> obs = {-0.8f, 0.0f, 0.8f};
  std::vector<float> action(3);
  learner.policy().act(obs.data(), 3, random, true, {.value = action.data()});
  for (int i = 0; i < 3; ++i) CHECK(action[i] == Approx(obs[i] / 2).margin(0.12));
}

}  // namespace troupe
