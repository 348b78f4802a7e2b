#include "algorithms/multi_agent/off_policy/maddpg/learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/kernels/flush_denormals.hpp"
#include "actors/trainer/polyak.hpp"
#include "algorithms/off_policy/learner_checks.hpp"

namespace troupe {
namespace {

bool uses_fused(gradient_backend backend, const maddpg_networks& networks) {
  bool all = true;
  for (std::size_t i = 0; i < networks.policies(); ++i) {
    all = detail::uses_fused(backend, networks[i].actor) && all;
  }
  return all;
}

std::vector<float> copy_of(std::span<const float> x) { return {x.begin(), x.end()}; }

}  // namespace

named_values named(const maddpg_metrics& m) {
  named_values columns{{"train/critic_loss", m.critic_loss}, {"train/q_mean", m.q_mean}};
  if (m.trained_actor) columns.emplace_back("train/actor_loss", m.actor_loss);
  return columns;
}

maddpg_learner::maddpg_learner(const network_shape& shape, const maddpg_options& options,
                               std::uint64_t seed, const agents_section& agents)
    : options_(checked_options(options, "maddpg")),
      networks_(shape, options.network, options.n_critics),
      trained_(trained_policies(agents, shape)),
      actors_(networks_.actor_count()),
      target_actors_(actors_.size()),
      actor_gradient_(actors_.size()),
      random_(seed),
      fused_(uses_fused(options.backend, networks_)),
      guard_("maddpg", options.max_skipped_steps),
      reward_scale_(options.normalize_reward, networks_.shape().agents.size()),
      own_(networks_.policies()),
      acting_rows_(networks_.policies()) {
  const adam_options with{.eps = options.adam_eps, .max_grad_norm = options.max_grad_norm};
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    auto& of = networks_[i];
    of.actor.initialise(random_, options.network.ortho_init, 0.01, actors_.data() + of.first);
    of.critics.initialise(random_, options.network.ortho_init);
    optimizers_.push_back(
        {adam(of.actor.parameter_count(), with), adam(of.critics.parameter_count(), with)});
  }
  target_actors_ = actors_;
}

std::span<float> maddpg_learner::actor_of(std::size_t policy, std::span<float> all) const {
  return all.subspan(networks_[policy].first, networks_[policy].actor.parameter_count());
}

// ---- the gradient by hand ----------------------------------------------------------------------

void maddpg_learner::draw_noise(int rows) {
  noise_.resize(static_cast<std::size_t>(rows) *
                static_cast<std::size_t>(networks_.shape().continuous_size));
  const auto std = static_cast<float>(options_.target_policy_noise);
  const auto clip = static_cast<float>(options_.target_noise_clip);
  if (std == 0.0f || clip == 0.0f) {
    std::ranges::fill(noise_, 0.0f);
    return;
  }
  random_.fill_normal(noise_);
  for (auto& x : noise_) x = std::clamp(std * x, -clip, clip);
}

/// Computes the next actions of the target actors, as critics see them.
void maddpg_learner::target_actions(const transition_batch& batch) {
  next_action_.resize(batch.action.size());
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    const auto& of = networks_[i];
    auto& with = own_[i];
    const int rows = batch.rows * static_cast<int>(networks_.rows().agents_of(i).size());
    const auto count = static_cast<std::size_t>(rows);
    const auto inputs = static_cast<std::size_t>(of.actor.inputs());
    const std::span seen(detail::grown(with.all_inputs, count * inputs), count * inputs);
    networks_.rows().gather_inputs(i, batch.next_obs, seen);
    const float* action = of.actor.top().forward(target_actors_.data() + of.first, seen.data(),
                                                 rows, with.target_buffers);
    networks_.rows().scatter(i, {}, {action, count * of.actions}, {}, next_action_);
  }
  for (std::size_t i = 0; i < next_action_.size(); ++i) {
    next_action_[i] = std::clamp(next_action_[i] + noise_[i], -1.0f, 1.0f);
  }
  networks_.hide_actions(batch.next_obs, batch.rows, next_action_.data());
}

/// Computes what all critics see of a batch.
void maddpg_learner::see(const transition_batch& batch) {
  const auto size = static_cast<std::size_t>(batch.rows) * networks_.view_size();
  networks_.view(batch.obs, batch.rows, detail::grown(view_, size));
  networks_.view(batch.next_obs, batch.rows, detail::grown(next_view_, size));
  action_ = batch.action;
  networks_.hide_actions(batch.obs, batch.rows, action_.data());
  target_actions(batch);
}

/// Gathers the rows of a policy's agents that act.
void maddpg_learner::gather(std::size_t policy, const transition_batch& batch) {
  const auto& of = networks_[policy];
  const auto& shape = networks_.shape();
  const auto& members = networks_.rows().agents_of(policy);
  const auto width = static_cast<std::size_t>(shape.obs_size);
  const auto actions = static_cast<std::size_t>(shape.continuous_size);
  auto& own = own_[policy];
  auto& to = own.batch;
  for (auto* column : {&to.obs, &to.next_obs, &to.action, &to.reward, &to.terminated, &to.discount,
                       &to.weight, &own.next_action}) {
    column->clear();
  }
  for (auto* column : {&own.row, &own.agent, &own.place}) column->clear();
  const auto put = [](std::vector<float>& column, const float* from, std::size_t count) {
    column.insert(column.end(), from, from + count);
  };
  for (std::size_t row = 0; row < static_cast<std::size_t>(batch.rows); ++row) {
    for (std::size_t k = 0; k < members.size(); ++k) {
      const auto agent = members[k];
      if (!networks_.acts(batch.obs.data() + row * width, agent)) continue;
      const auto at = row * shape.agents.size() + agent;
      const bool goes_on = batch.agent_terminated[at] == 0 &&
                           networks_.acts(batch.next_obs.data() + row * width, agent);
      own.row.push_back(row);
      own.agent.push_back(agent);
      own.place.push_back(row * members.size() + k);
      put(to.obs, view_.data() + row * networks_.view_size(), networks_.view_size());
      put(to.next_obs, next_view_.data() + row * networks_.view_size(), networks_.view_size());
      for (std::size_t id = 0; id < of.ids; ++id) {
        to.obs.push_back(id == k ? 1.0f : 0.0f);
        to.next_obs.push_back(id == k ? 1.0f : 0.0f);
      }
      put(to.action, action_.data() + row * actions, actions);
      put(own.next_action, next_action_.data() + row * actions, actions);
      to.reward.push_back(batch.agent_reward[at]);
      to.terminated.push_back(goes_on ? 0.0f : 1.0f);
      to.discount.push_back(batch.discount[row]);
      if (!batch.weight.empty()) to.weight.push_back(batch.weight[row]);
    }
  }
  to.rows = static_cast<int>(own.row.size());
}

maddpg_learner::critic_result maddpg_learner::critic_gradient(std::size_t policy,
                                                              const transition_batch& batch) {
  gather(policy, batch);
  auto& own = own_[policy];
  const auto& rows = own.batch;
  const auto count = own.row.size();
  if (count == 0) return {};
  auto& critics = networks_[policy].critics;
  float* y = detail::grown(own.targets, count);
  critics.smallest_target(rows, own.next_action.data(), y);
  for (std::size_t i = 0; i < count; ++i) {
    y[i] = rows.reward[i] + rows.discount[i] * (1.0f - rows.terminated[i]) * y[i];
  }
  own.td_errors.resize(count);
  constexpr float mean_squared_error = 1.0f;
  const auto fit = critics.fit(rows, y, mean_squared_error, own.td_errors.data());
  for (std::size_t i = 0; i < count; ++i) {
    agent_errors_[own.row[i] * networks_.shape().agents.size() + own.agent[i]] = own.td_errors[i];
  }
  return {fit.loss, fit.q_mean, count};
}

/// Comes after critic_gradient with the same batch.
double maddpg_learner::actor_gradient(std::size_t policy, const transition_batch& batch) {
  auto& own = own_[policy];
  const auto& of = networks_[policy];
  const auto& net = of.actor.top();
  const auto& agents = networks_.shape().agents;
  const auto count = own.row.size();
  const auto inputs = static_cast<std::size_t>(net.inputs());
  const auto all =
      static_cast<std::size_t>(batch.rows) * networks_.rows().agents_of(policy).size() * inputs;
  const std::span seen(detail::grown(own.all_inputs, all), all);
  networks_.rows().gather_inputs(policy, batch.obs, seen);
  float* x = detail::grown(own.inputs, count * inputs);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(seen.data() + own.place[i] * inputs, inputs, x + i * inputs);
  }
  const int rows = static_cast<int>(count);
  const float* parameters = actors_.data() + of.first;
  const float* mu = net.forward(parameters, x, rows, own.actor_buffers);
  const auto width = static_cast<std::size_t>(networks_.shape().continuous_size);
  const auto begin_of = [&](std::size_t i) {
    return i * width + static_cast<std::size_t>(agents[own.agent[i]].floats_begin);
  };
  float* action = detail::grown(own.action, count * width);
  std::ranges::copy(own.batch.action, action);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(mu + i * of.actions, of.actions, action + begin_of(i));
  }
  float* value = detail::grown(own.value, count);
  float* d_action = detail::grown(own.d_action, count * width);
  networks_[policy].critics.value_and_slope(own.batch, action, 1, value, d_action);
  double sum = 0.0;
  float* d_own = detail::grown(own.d_own, count * of.actions);
  const float share = 1.0f / static_cast<float>(count);
  for (std::size_t i = 0; i < count; ++i) {
    sum -= value[i];
    for (std::size_t k = 0; k < of.actions; ++k) {
      d_own[i * of.actions + k] = -share * d_action[begin_of(i) + k];
    }
  }
  net.backward(parameters, x, rows, d_own, own.actor_buffers, actor_gradient_.data() + of.first);
  return sum / static_cast<double>(count);
}

// ---- one step ----------------------------------------------------------------------------------

bool maddpg_learner::finite(const char* what, double value) {
  if (std::isfinite(static_cast<float>(value))) return true;
  guard_.skipped(what, value);
  return false;
}

/// Steps the critics of all policies that are trained and act. Returns false as soon as a loss or
/// gradient is not finite; networks that were stepped before that keep their finite new weights.
bool maddpg_learner::step_critics(const transition_batch& batch, maddpg_metrics& metrics) {
  std::size_t rows = 0;
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    acting_rows_[i] = 0;
    if (!trained_[i]) continue;
    const auto critic = fused_ ? critic_gradient(i, batch) : critic_gradient_by_autograd(i, batch);
    acting_rows_[i] = critic.rows;
    if (critic.rows == 0) continue;
    rows += critic.rows;
    metrics.critic_loss += critic.loss;
    metrics.q_mean += critic.q_mean * static_cast<double>(critic.rows);
    if (!finite("critic loss", critic.loss)) return false;
    auto& critics = networks_[i].critics;
    const double norm = optimizers_[i].critics.step(
        critics.parameters(), std::as_const(critics).gradient(), metrics.learning_rate);
    if (!finite("critic gradient norm", norm)) return false;
  }
  if (rows > 0) metrics.q_mean /= static_cast<double>(rows);
  return true;
}

bool maddpg_learner::step_actors(const transition_batch& batch, maddpg_metrics& metrics) {
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    if (acting_rows_[i] == 0) continue;
    const double loss = fused_ ? actor_gradient(i, batch) : actor_gradient_by_autograd(i, batch);
    metrics.actor_loss += loss;
    if (!finite("actor loss", loss)) return false;
    const double norm = optimizers_[i].actor.step(
        actor_of(i, actors_), actor_of(i, actor_gradient_), metrics.learning_rate);
    if (!finite("actor gradient norm", norm)) return false;
  }
  return true;
}

void maddpg_learner::update_targets() {
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    if (!trained_[i]) continue;
    auto& critics = networks_[i].critics;
    polyak_average(std::as_const(critics).parameters(), options_.tau, critics.target());
    polyak_average(actor_of(i, actors_), options_.tau, actor_of(i, target_actors_));
  }
}

void maddpg_learner::sum_td_errors(const transition_batch& batch) {
  const auto& shape = networks_.shape();
  const auto agents = shape.agents.size();
  for (std::size_t row = 0; row < td_errors_.size(); ++row) {
    const float* obs = batch.obs.data() + row * static_cast<std::size_t>(shape.obs_size);
    float sum = 0.0f;
    int count = 0;
    for (std::size_t agent = 0; agent < agents; ++agent) {
      if (!trained_[static_cast<std::size_t>(shape.agents[agent].policy)]) continue;
      if (!networks_.acts(obs, agent)) continue;
      sum += agent_errors_[row * agents + agent];
      ++count;
    }
    td_errors_[row] = count > 0 ? sum / static_cast<float>(count) : 0.0f;
  }
}

/// Adds the rewards of agents that act to their statistics and returns the batch with scaled ones.
const transition_batch& maddpg_learner::scaled(const transition_batch& batch) {
  if (!reward_scale_.is_wanted()) return batch;
  scaled_ = batch;
  const auto& shape = networks_.shape();
  const auto agents = shape.agents.size();
  std::vector<float> of_agent;
  for (std::size_t agent = 0; agent < agents; ++agent) {
    of_agent.clear();
    for (std::size_t row = 0; row < static_cast<std::size_t>(batch.rows); ++row) {
      const float* obs = batch.obs.data() + row * static_cast<std::size_t>(shape.obs_size);
      if (networks_.acts(obs, agent)) of_agent.push_back(batch.agent_reward[row * agents + agent]);
    }
    reward_scale_.add(agent, of_agent);
    for (auto at = agent; at < batch.agent_reward.size(); at += agents) {
      scaled_.agent_reward[at] = reward_scale_.apply(agent, batch.agent_reward[at]);
    }
  }
  return scaled_;
}

maddpg_metrics maddpg_learner::update(const transition_batch& given, double progress_remaining,
                                      std::optional<double> chosen_lr) {
  check(given, networks_.shape());
  const auto& batch = scaled(given);
  const detail::flush_denormals flush;
  const auto rows = static_cast<std::size_t>(batch.rows);
  td_errors_.resize(rows);
  agent_errors_.assign(rows * networks_.shape().agents.size(), 0.0f);
  draw_noise(batch.rows);
  if (fused_) see(batch);
  maddpg_metrics metrics{.n_updates = ++n_updates_,
                         .learning_rate = chosen_lr.value_or(
                             annealed(options_.lr, options_.lr_schedule, progress_remaining))};
  bool taken = step_critics(batch, metrics);
  sum_td_errors(batch);
  metrics.trained_actor = taken && n_updates_ % options_.policy_delay == 0;
  if (metrics.trained_actor) {
    taken = step_actors(batch, metrics);
    if (taken) update_targets();
  }
  metrics.skipped = !taken;
  if (taken) guard_.taken();
  return metrics;
}

maddpg_learner_state maddpg_learner::state() const {
  maddpg_learner_state now{.actors = copy_of(actors_),
                           .target_actors = copy_of(target_actors_),
                           .random = random_.state(),
                           .n_updates = n_updates_,
                           .skipped_in_a_row = guard_.in_a_row(),
                           .reward_scale = reward_scale_.saved()};
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    const auto& critics = networks_[i].critics;
    now.policies.push_back({.critics = copy_of(critics.parameters()),
                            .target_critics = copy_of(critics.target()),
                            .actor_optimizer = optimizers_[i].actor.state(),
                            .critic_optimizer = optimizers_[i].critics.state()});
  }
  return now;
}

void maddpg_learner::set_state(const maddpg_learner_state& state) {
  constexpr auto name = "maddpg";
  detail::expect_size(name, "actors", state.actors.size(), actors_.size());
  detail::expect_size(name, "target_actors", state.target_actors.size(), actors_.size());
  detail::expect_size(name, "policies", state.policies.size(), networks_.policies());
  reward_scale_.restore(name, state.reward_scale);
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    const auto count = networks_[i].critics.parameter_count();
    detail::expect_size(name, "critics", state.policies[i].critics.size(), count);
    detail::expect_size(name, "target_critics", state.policies[i].target_critics.size(), count);
  }
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    const auto& of = state.policies[i];
    optimizers_[i].actor.set_state(of.actor_optimizer);
    optimizers_[i].critics.set_state(of.critic_optimizer);
    std::ranges::copy(of.critics, networks_[i].critics.parameters().begin());
    std::ranges::copy(of.target_critics, networks_[i].critics.target().begin());
  }
  std::ranges::copy(state.actors, actors_.begin());
  std::ranges::copy(state.target_actors, target_actors_.begin());
  random_.set_state(state.random);
  n_updates_ = state.n_updates;
  guard_.set_in_a_row(state.skipped_in_a_row);
}

}  // namespace troupe
