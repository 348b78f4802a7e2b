// The losses of DQN, TD3 and SAC against their equations, written out in double precision for one
// row at a time.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "algorithms/off_policy/dqn/learner.hpp"
#include "algorithms/off_policy/sac/learner.hpp"
#include "algorithms/off_policy/td3/learner.hpp"
#include "tests/algorithms/learner_parts.hpp"
#include "tests/algorithms/off_policy/equations.hpp"
#include "tests/algorithms/off_policy/random_transitions.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

constexpr int rows = 19, obs_size = 3, actions = 2;
const network_shape discrete{.obs_size = obs_size, .discrete_actions = 4};
const network_shape continuous{.obs_size = obs_size, .continuous_size = actions};

template <class Options>
Options small() {
  Options options;
  options.network.hidden = {16};
  options.backend = gradient_backend::fused;
  return options;
}

/// Random transitions, a third of them terminated, with weights.
transition_batch batch_for(const network_shape& shape) {
  auto batch = random_transitions(shape, rows, 9);
  for (int row = 0; row < rows; ++row) {
    batch.terminated[row] = row % 3 == 0 ? 1.0f : 0.0f;
    batch.discount[row] = 0.9f + 0.001f * row;
    batch.weight.push_back(0.25f + 0.1f * row);
  }
  return batch;
}

double huber_of(double error) {
  return std::abs(error) < 1 ? 0.5 * error * error : std::abs(error) - 0.5;
}

std::vector<double> action_values_of(const detail::mlp& net, const float* parameters,
                                     const std::vector<float>& x, bool dueling) {
  auto y = outputs_of(net, parameters, x);
  if (!dueling) return y;
  double mean = 0;
  for (std::size_t i = 1; i < y.size(); ++i) mean += y[i] / (y.size() - 1.0);
  std::vector<double> q;
  for (std::size_t i = 1; i < y.size(); ++i) q.push_back(y[0] + y[i] - mean);
  return q;
}

TEST_CASE("rules: DQN's loss is the weighted Huber loss of its equation, plain, double, dueling") {
  const auto batch = batch_for(discrete);
  for (const bool double_q : {false, true}) {
    for (const bool dueling : {false, true}) {
      CAPTURE(double_q, dueling);
      auto options = small<dqn_options>();
      options.double_q = double_q;
      options.dueling = dueling;
      dqn_learner learner(discrete, options, 4);
      auto state = parts_of(learner);
      state["target"] = moved(state["target"]);
      set_parts(learner, state);
      const auto& net = learner.policy().network();
      double loss = 0, q_mean = 0;
      std::vector<double> errors;
      for (int row = 0; row < rows; ++row) {
        const auto next_obs = row_of(batch.next_obs, row, obs_size);
        const detail::float_block online(state["parameters"].begin(), state["parameters"].end());
        const detail::float_block target(state["target"].begin(), state["target"].end());
        const auto next = action_values_of(net, target.data(), next_obs, dueling);
        const auto judged =
            double_q ? action_values_of(net, online.data(), next_obs, dueling) : next;
        const auto best = std::ranges::max_element(judged) - judged.begin();
        const double y = batch.reward[row] +
                         batch.discount[row] * (1 - double(batch.terminated[row])) * next[best];
        const double q = action_values_of(net, online.data(), row_of(batch.obs, row, obs_size),
                                          dueling)[batch.choice[row]];
        loss += batch.weight[row] * huber_of(q - y) / rows;
        q_mean += q / rows;
        errors.push_back(std::abs(q - y));
      }
      const auto metrics = learner.update(batch);
      CHECK(metrics["train/loss"] == Approx(loss).epsilon(1e-5));
      CHECK(metrics["train/q_mean"] == Approx(q_mean).epsilon(1e-5).margin(1e-6));
      for (int row = 0; row < rows; ++row) {
        CHECK(learner.last().td_errors[row] == Approx(errors[row]).margin(1e-5));
      }
    }
  }
}

/// Q_i(s, a) of each critic.
std::vector<double> values_of(const detail::critic_ensemble& critics, std::span<const float> block,
                              std::vector<float> obs, const std::vector<double>& action) {
  for (const double each : action) obs.push_back(static_cast<float>(each));
  std::vector<double> q;
  for (int i = 0; i < critics.count(); ++i) {
    q.push_back(outputs_of(critics.network(), block.data() + i * critics.stride(), obs)[0]);
  }
  return q;
}

/// The sum over critics of the weighted mean of (Q_i(s, a) - y)^2.
double squared_errors(const detail::critic_ensemble& critics, const transition_batch& batch,
                      const std::vector<double>& y) {
  double sum = 0;
  for (int row = 0; row < rows; ++row) {
    const auto taken = row_of(batch.action, row, actions);
    for (const double q : values_of(critics, critics.parameters(), row_of(batch.obs, row, obs_size),
                                    {taken.begin(), taken.end()})) {
      sum += batch.weight[row] * (q - y[row]) * (q - y[row]) / rows;
    }
  }
  return sum;
}

double td_target_of(const transition_batch& batch, int row, double next) {
  return batch.reward[row] + batch.discount[row] * (1 - double(batch.terminated[row])) * next;
}

TEST_CASE("rules: TD3's losses are those of its equations") {
  const auto batch = batch_for(continuous);
  auto options = small<td3_options>();
  options.policy_delay = 1;
  options.target_policy_noise = 0.5;
  options.target_noise_clip = 0.3;
  td3_learner learner(continuous, options, 4);
  auto state = parts_of(learner);
  state["target_critics"] = moved(state["target_critics"]);
  state["target_actor"] = moved(state["target_actor"]);
  set_parts(learner, state);
  const detail::float_block target_actor(state["target_actor"].begin(),
                                         state["target_actor"].end());
  const auto& actor = learner.policy().network();

  action_random random(0);
  random.set_state(state.random);
  std::vector<float> noise(rows * actions);
  random.fill_normal(noise);
  std::vector<double> y;
  for (int row = 0; row < rows; ++row) {
    const auto next_obs = row_of(batch.next_obs, row, obs_size);
    auto action = outputs_of(actor, target_actor.data(), next_obs);
    for (int i = 0; i < actions; ++i) {
      action[i] += std::clamp(0.5 * noise[row * actions + i], -0.3, 0.3);
      action[i] = std::clamp(action[i], -1.0, 1.0);
    }
    const auto q = values_of(learner.critics(), learner.critics().target(), next_obs, action);
    y.push_back(td_target_of(batch, row, *std::ranges::min_element(q)));
  }
  const double critic_loss = squared_errors(learner.critics(), batch, y);
  const detail::float_block acting(state["actor"].begin(), state["actor"].end());
  const auto metrics = learner.update(batch);
  CHECK(metrics["train/critic_loss"] == Approx(critic_loss).epsilon(1e-5));
  // The actor learns from the critics that have just been stepped.
  double actor_loss = 0;
  for (int row = 0; row < rows; ++row) {
    const auto obs = row_of(batch.obs, row, obs_size);
    actor_loss -= values_of(learner.critics(), learner.critics().parameters(), obs,
                            outputs_of(actor, acting.data(), obs))[0] /
                  rows;
  }
  CHECK(metrics["train/actor_loss"] == Approx(actor_loss).epsilon(1e-5).margin(1e-6));
}

struct drawn_action {
  std::vector<double> action;
  double log_prob = 0;
};

/// An action of SAC's policy in a state, and its log-probability.
drawn_action draw(const detail::mlp& actor, const float* parameters, const std::vector<float>& obs,
                  const float* noise) {
  const auto outputs = outputs_of(actor, parameters, obs);
  drawn_action drawn;
  for (int i = 0; i < actions; ++i) {
    const double log_std = std::clamp(outputs[actions + i], -20.0, 2.0);
    const double u = outputs[i] + std::exp(log_std) * noise[i];
    const double a = std::tanh(u);
    drawn.action.push_back(a);
    drawn.log_prob += -0.5 * noise[i] * noise[i] - log_std - 0.5 * std::log(2 * std::numbers::pi) -
                      std::log(1 - a * a);
  }
  return drawn;
}

TEST_CASE("rules: SAC's losses are those of its equations") {
  const auto batch = batch_for(continuous);
  auto options = small<sac_options>();
  options.initial_ent_coef = 0.7;
  sac_learner learner(continuous, options, 4);
  auto state = parts_of(learner);
  state["target"] = moved(state["target"]);
  set_parts(learner, state);
  const auto& actor = learner.policy().network();
  const detail::float_block acting(state["actor"].begin(), state["actor"].end());

  action_random random(0);
  random.set_state(state.random);
  std::vector<float> noise(rows * actions), next_noise(rows * actions);
  random.fill_normal(noise);
  random.fill_normal(next_noise);
  std::vector<double> y;
  for (int row = 0; row < rows; ++row) {
    const auto next_obs = row_of(batch.next_obs, row, obs_size);
    const auto next = draw(actor, acting.data(), next_obs, &next_noise[row * actions]);
    const auto q = values_of(learner.critics(), learner.critics().target(), next_obs, next.action);
    y.push_back(td_target_of(batch, row, *std::ranges::min_element(q) - 0.7 * next.log_prob));
  }
  const double critic_loss = 0.5 * squared_errors(learner.critics(), batch, y);
  const auto metrics = learner.update(batch);
  CHECK(metrics["train/critic_loss"] == Approx(critic_loss).epsilon(1e-5));
  double actor_loss = 0, entropy = 0;
  for (int row = 0; row < rows; ++row) {
    const auto obs = row_of(batch.obs, row, obs_size);
    const auto [action, log_prob] = draw(actor, acting.data(), obs, &noise[row * actions]);
    const auto q = values_of(learner.critics(), learner.critics().parameters(), obs, action);
    actor_loss += (0.7 * log_prob - *std::ranges::min_element(q)) / rows;
    entropy -= log_prob / rows;
  }
  CHECK(metrics["train/actor_loss"] == Approx(actor_loss).epsilon(1e-5).margin(1e-6));
  CHECK(metrics["train/entropy"] == Approx(entropy).epsilon(1e-5).margin(1e-6));
}

}  // namespace
}  // namespace troupe
