// The losses of MADDPG and MATD3 against their equations, written out in double precision for one
// agent of one row at a time.

#include "actors/torch/torch.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithms/multi_agent/off_policy/maddpg/learner.hpp"
#include "tests/algorithms/learner_parts.hpp"
#include "tests/algorithms/multi_agent/off_policy/disturbed_learner.hpp"
#include "tests/algorithms/multi_agent/off_policy/random_agents.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

constexpr int rows = 23;

/// The outputs of a perceptron for the numbers of one row.
std::vector<float> outputs_of(const detail::mlp& net, std::span<const float> parameters,
                              const std::vector<float>& x) {
  const detail::float_block aligned(parameters.begin(), parameters.end());
  detail::mlp_buffers buffers;
  const float* y = net.forward(aligned.data(), x.data(), 1, buffers);
  return {y, y + net.outputs()};
}

/// A learner's networks and a batch, as the equations see them.
struct equations {
  const maddpg_learner& learner;
  const transition_batch& batch;

  const network_shape& shape() const { return learner.networks().shape(); }
  std::size_t agents() const { return shape().agents.size(); }
  std::size_t policy_of(std::size_t agent) const {
    return static_cast<std::size_t>(shape().agents[agent].policy);
  }
  bool is_scripted(std::size_t agent) const {
    return !shape().policies[policy_of(agent)].script.empty();
  }
  const float* row_of(const std::vector<float>& obs, int row) const {
    return obs.data() + row * shape().obs_size;
  }
  bool acts(const float* obs, std::size_t agent) const {
    const int at = shape().agents[agent].active;
    return at < 0 || obs[at] != 0;
  }
  std::vector<std::size_t> members(std::size_t policy) const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < agents(); ++i) {
      if (policy_of(i) == policy) all.push_back(i);
    }
    return all;
  }

  /// x and the agent's number among those of its policy.
  std::vector<float> seen(const float* obs, std::size_t agent, bool state) const {
    std::vector<float> x;
    if (state) {
      const auto& view = shape().agents[agent];
      const auto size = shape().policies[policy_of(agent)].critic_only;
      x.assign(obs + view.critic_begin, obs + view.critic_begin + size);
    } else {
      for (std::size_t i = 0; i < agents(); ++i) {
        const auto& view = shape().agents[i];
        for (int k = 0; k < view.obs_size; ++k) {
          x.push_back(acts(obs, i) ? obs[view.obs_begin + k] : 0.0f);
        }
      }
    }
    const auto own = members(policy_of(agent));
    for (const auto each : own) {
      if (own.size() > 1) x.push_back(each == agent ? 1.0f : 0.0f);
    }
    return x;
  }

  /// mu_j(o_j) by the parameters of all actors.
  std::vector<float> actor_of(std::size_t agent, std::span<const float> actors,
                              const float* obs) const {
    const auto& view = shape().agents[agent];
    const auto& of = learner.networks()[policy_of(agent)];
    std::vector<float> o(obs + view.obs_begin, obs + view.obs_begin + view.obs_size);
    for (int id = 0; id < view.ids; ++id) o.push_back(id == view.id ? 1.0f : 0.0f);
    return outputs_of(of.actor.top(), actors.subspan(of.first, of.actor.parameter_count()), o);
  }

  /// The actions of all agents that were taken, as critics see them.
  std::vector<float> taken(int row) const {
    const float* all = batch.action.data() + row * shape().continuous_size;
    std::vector<float> a;
    for (std::size_t i = 0; i < agents(); ++i) {
      const auto size = static_cast<int>(learner.networks()[policy_of(i)].actions);
      const bool is_seen = acts(row_of(batch.obs, row), i) && !is_scripted(i);
      for (int k = 0; k < size; ++k) {
        a.push_back(is_seen ? all[shape().agents[i].floats_begin + k] : 0.0f);
      }
    }
    return a;
  }

  /// The actions of the target actors with clipped noise, as critics see them.
  std::vector<float> next_actions(int row, std::span<const float> target_actors,
                                  const std::vector<float>& noise) const {
    const float* next_obs = row_of(batch.next_obs, row);
    std::vector<float> a;
    for (std::size_t i = 0; i < agents(); ++i) {
      const auto mu = actor_of(i, target_actors, next_obs);
      const bool is_seen = acts(next_obs, i) && !is_scripted(i);
      for (const float each : mu) {
        const auto at = row * shape().continuous_size + static_cast<int>(a.size());
        a.push_back(is_seen ? std::clamp(each + noise[at], -1.0f, 1.0f) : 0.0f);
      }
    }
    return a;
  }

  /// Q_k(x, i, a) of each critic.
  std::vector<double> values_of(std::size_t policy, std::span<const float> block,
                                std::vector<float> x, const std::vector<float>& action) const {
    const auto& critics = learner.networks()[policy].critics;
    x.insert(x.end(), action.begin(), action.end());
    std::vector<double> q;
    for (int k = 0; k < critics.count(); ++k) {
      const auto own = block.subspan(critics.stride() * k, critics.network().parameter_count());
      q.push_back(outputs_of(critics.network(), own, x)[0]);
    }
    return q;
  }
};

/// The noise that a learner in this state draws, clipped.
std::vector<float> noise_of(const learner_parts& state, const maddpg_options& options,
                            std::size_t count) {
  action_random random(0);
  random.set_state(state.random);
  std::vector<float> noise(count);
  random.fill_normal(noise);
  const auto clip = static_cast<float>(options.target_noise_clip);
  for (auto& x : noise) {
    x = std::clamp(static_cast<float>(options.target_policy_noise) * x, -clip, clip);
  }
  return noise;
}

struct expected_losses {
  double critic_loss = 0, q_mean = 0;
  std::vector<double> td_errors = std::vector<double>(rows);
};

/// The losses of the critics before an update.
expected_losses critics_of(const equations& by, const learner_parts& state, bool sees_state) {
  const auto& shape = by.shape();
  const auto noise =
      noise_of(state, by.learner.options(), rows * static_cast<std::size_t>(shape.continuous_size));
  expected_losses expected;
  double total = 0;
  std::vector<int> judged(rows);
  for (std::size_t policy = 0; policy < shape.policies.size(); ++policy) {
    if (!by.learner.trained()[policy]) continue;
    const auto name = shape.policies[policy].name;
    double squares = 0, count = 0;
    for (int row = 0; row < rows; ++row) {
      const float* obs = by.row_of(by.batch.obs, row);
      const float* next_obs = by.row_of(by.batch.next_obs, row);
      for (const auto i : by.members(policy)) {
        if (!by.acts(obs, i)) continue;
        const auto at = row * by.agents() + i;
        const bool has_ended = by.batch.agent_terminated[at] != 0 || !by.acts(next_obs, i);
        const auto next =
            by.values_of(policy, state[name + ".target_critics"], by.seen(next_obs, i, sees_state),
                         by.next_actions(row, state["target_actors"], noise));
        const double y = by.batch.agent_reward[at] + by.batch.discount[row] *
                                                         (has_ended ? 0.0 : 1.0) *
                                                         *std::ranges::min_element(next);
        const auto q = by.values_of(policy, state[name + ".critics"], by.seen(obs, i, sees_state),
                                    by.taken(row));
        for (const double each : q) {
          squares += by.batch.weight[row] * (each - y) * (each - y);
          expected.td_errors[row] += std::abs(each - y) / static_cast<double>(q.size());
        }
        expected.q_mean += q[0];
        ++count;
        ++judged[row];
      }
    }
    if (count > 0) expected.critic_loss += squares / count;
    total += count;
  }
  expected.q_mean /= total;
  for (int row = 0; row < rows; ++row) {
    if (judged[row] > 0) expected.td_errors[row] /= judged[row];
  }
  return expected;
}

/// The loss of the actors, which learn from the critics that have just been stepped.
double actor_loss_of(const equations& by, const learner_parts& state, bool sees_state) {
  double loss = 0;
  for (std::size_t policy = 0; policy < by.shape().policies.size(); ++policy) {
    if (!by.learner.trained()[policy]) continue;
    double sum = 0, count = 0;
    for (int row = 0; row < rows; ++row) {
      const float* obs = by.row_of(by.batch.obs, row);
      for (const auto i : by.members(policy)) {
        if (!by.acts(obs, i)) continue;
        auto action = by.taken(row);
        const auto mu = by.actor_of(i, state["actors"], obs);
        std::ranges::copy(mu, action.begin() + by.shape().agents[i].floats_begin);
        sum -= by.values_of(policy, by.learner.networks()[policy].critics.parameters(),
                            by.seen(obs, i, sees_state), action)[0];
        ++count;
      }
    }
    if (count > 0) loss += sum / count;
  }
  return loss;
}

void check_losses(const network_shape& shape, maddpg_options options, bool sees_state,
                  std::uint64_t seed) {
  case_random random(seed);
  options.backend = gradient_backend::fused;
  options.network.hidden = {16, 20};
  options.policy_delay = 1;
  auto learner = disturbed(random, maddpg_learner(shape, options, 4));
  auto batch = random_float_batch(random, shape, rows);
  batch.weight.resize(rows);
  for (int row = 0; row < rows; ++row) batch.weight[row] = 0.25f + 0.1f * row;
  const auto before = parts_of(learner);
  const equations by{learner, batch};
  const auto expected = critics_of(by, before, sees_state);
  const auto metrics = learner.update(batch);
  REQUIRE(metrics.has("train/actor_loss"));
  CHECK(metrics["train/critic_loss"] == Approx(expected.critic_loss).epsilon(1e-5));
  CHECK(metrics["train/q_mean"] == Approx(expected.q_mean).epsilon(1e-5).margin(1e-6));
  for (int row = 0; row < rows; ++row) {
    CHECK(learner.last().td_errors[row] == Approx(expected.td_errors[row]).margin(1e-5));
  }
  const double actor_loss = actor_loss_of(by, before, sees_state);
  CHECK(metrics["train/actor_loss"] == Approx(actor_loss).epsilon(1e-5).margin(1e-6));
}

maddpg_options noisy_matd3() {
  maddpg_options options = matd3_options();
  options.target_policy_noise = 1.0;
  options.target_noise_clip = 0.95;  // so that actions with their noise reach the bounds
  return options;
}

TEST_CASE("rules: MADDPG's losses are those of its equations, with the state or all observations") {
  for (const bool sees_state : {false, true}) {
    CAPTURE(sees_state);
    const auto shape = four_agents(sees_state ? central_input::state : central_input::observations);
    check_losses(shape, maddpg_options(), sees_state, 7);
  }
}

TEST_CASE("rules: MATD3's losses are those of its equations, with the state or all observations") {
  for (const bool sees_state : {false, true}) {
    CAPTURE(sees_state);
    const auto shape = four_agents(sees_state ? central_input::state : central_input::observations);
    check_losses(shape, noisy_matd3(), sees_state, 8);
  }
}

TEST_CASE("rules: MADDPG's losses are those of its equations beside a scripted policy") {
  auto shape = four_agents();
  shape.policies.back().script = "random";
  check_losses(shape, maddpg_options(), false, 9);
  check_losses(shape, noisy_matd3(), false, 10);
}

}  // namespace
}  // namespace troupe
