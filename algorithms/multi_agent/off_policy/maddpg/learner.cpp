#include "algorithms/multi_agent/off_policy/maddpg/learner.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "actors/kernels/flush_denormals.hpp"
#include "actors/trainer/polyak.hpp"
#include "algorithms/off_policy/learner_checks.hpp"
#include "algorithms/off_policy/model_tensors.hpp"

namespace troupe {
namespace {

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
      random_(seed),
      guard_("maddpg", options.max_skipped_steps),
      reward_scale_(options.normalize_reward, networks_.shape().agents.size()) {
  const adam_options with{.eps = options.adam_eps, .max_grad_norm = options.max_grad_norm};
  const auto deciding = networks_.actors();
  const auto engine = [&] { return make_graph(options.backend, deciding); };
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    auto& of = networks_[i];
    of.actor.initialise(random_, options.network.ortho_init, 0.01, actors_.data() + of.first);
    of.critics.initialise(random_, options.network.ortho_init);
    own_.push_back({.actor = {"actor", of.actor.parameter_count(), with},
                    .critics = {"critic", of.critics.parameter_count(), with},
                    .target_graph = engine(),
                    .critic_graph = engine(),
                    .actor_graph = engine()});
  }
  target_actors_ = actors_;
}

std::span<float> maddpg_learner::actor_of(std::size_t policy, std::span<float> all) const {
  return all.subspan(networks_[policy].first, networks_[policy].actor.parameter_count());
}

// ---- what is learned from ----------------------------------------------------------------------

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

/// Computes the next actions of a policy's target actor.
void maddpg_learner::target_actions(std::size_t policy, const transition_batch& batch) {
  const auto& of = networks_[policy];
  const auto& members = networks_.rows().agents_of(policy);
  const auto width = static_cast<std::size_t>(networks_.shape().continuous_size);
  auto& own = own_[policy];
  const auto rows = static_cast<std::size_t>(batch.rows);
  own.next_inputs.resize(rows * members.size() * static_cast<std::size_t>(of.actor.inputs()));
  networks_.rows().gather_inputs(policy, batch.next_obs, own.next_inputs);
  own.noise.clear();
  for (std::size_t row = 0; row < rows; ++row) {
    for (const auto agent : members) {
      const float* from = noise_.data() + row * width +
                          static_cast<std::size_t>(networks_.shape().agents[agent].floats_begin);
      own.noise.insert(own.noise.end(), from, from + of.actions);
    }
  }
  own.target_graph->clear();
  const auto action = maddpg_target_actions(
      *own.target_graph, of, {actor_of(policy, target_actors_)}, own.next_inputs, own.noise);
  networks_.rows().scatter(policy, {}, own.target_graph->values(action), {}, next_action_);
}

/// Computes what all critics see of a batch.
void maddpg_learner::see(const transition_batch& batch) {
  const auto size = static_cast<std::size_t>(batch.rows) * networks_.view_size();
  networks_.view(batch.obs, batch.rows, detail::grown(view_, size));
  networks_.view(batch.next_obs, batch.rows, detail::grown(next_view_, size));
  action_ = batch.action;
  networks_.hide_actions(batch.obs, batch.rows, action_.data());
  next_action_.resize(batch.action.size());
  for (std::size_t i = 0; i < networks_.policies(); ++i) target_actions(i, batch);
  networks_.hide_actions(batch.next_obs, batch.rows, next_action_.data());
}

/// Gathers the rows of a policy's agents that act.
void maddpg_learner::gather(std::size_t policy, const transition_batch& batch) {
  const auto& of = networks_[policy];
  const auto& shape = networks_.shape();
  const auto& members = networks_.rows().agents_of(policy);
  const auto width = static_cast<std::size_t>(shape.obs_size);
  const auto actions = static_cast<std::size_t>(shape.continuous_size);
  const auto inputs = static_cast<std::size_t>(of.actor.inputs());
  auto& all_inputs = own_[policy].inputs;
  all_inputs.resize(static_cast<std::size_t>(batch.rows) * members.size() * inputs);
  networks_.rows().gather_inputs(policy, batch.obs, all_inputs);
  auto& own = own_[policy].rows;
  auto& to = own.batch;
  for (auto* column : {&to.obs, &to.next_obs, &to.action, &to.reward, &to.terminated, &to.discount,
                       &to.weight, &own.next_action, &own.inputs}) {
    column->clear();
  }
  for (auto* column : {&own.row, &own.agent}) column->clear();
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
      put(to.obs, view_.data() + row * networks_.view_size(), networks_.view_size());
      put(to.next_obs, next_view_.data() + row * networks_.view_size(), networks_.view_size());
      for (std::size_t id = 0; id < of.ids; ++id) {
        to.obs.push_back(id == k ? 1.0f : 0.0f);
        to.next_obs.push_back(id == k ? 1.0f : 0.0f);
      }
      put(to.action, action_.data() + row * actions, actions);
      put(own.next_action, next_action_.data() + row * actions, actions);
      put(own.inputs, all_inputs.data() + (row * members.size() + k) * inputs, inputs);
      to.reward.push_back(batch.agent_reward[at]);
      to.terminated.push_back(goes_on ? 0.0f : 1.0f);
      to.discount.push_back(batch.discount[row]);
      if (!batch.weight.empty()) to.weight.push_back(batch.weight[row]);
    }
  }
  to.rows = static_cast<int>(own.row.size());
}

// ---- one step ----------------------------------------------------------------------------------

void maddpg_learner::keep_errors(const maddpg_rows& rows, std::span<const float> error) {
  const auto agents = networks_.shape().agents.size();
  for (std::size_t i = 0; i < error.size(); ++i) {
    agent_errors_[rows.row[i] * agents + rows.agent[i]] = error[i];
  }
}

/// Steps the critics of all policies that are trained and act. Returns false as soon as a loss or
/// gradient is not finite; networks that were stepped before that keep their finite new weights.
bool maddpg_learner::step_critics(const transition_batch& batch, maddpg_metrics& metrics) {
  double rows = 0;
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    if (!trained_[i]) continue;
    auto& own = own_[i];
    auto& g = *own.critic_graph;
    auto& critics = networks_[i].critics;
    gather(i, batch);
    if (own.rows.batch.rows == 0) continue;
    g.clear();
    const auto fit =
        maddpg_critic_loss(g, networks_, i, own.critics.of(critics.parameters()), own.rows);
    rows += own.rows.batch.rows;
    metrics.critic_loss += g.number(fit.loss);
    metrics.q_mean += g.number(fit.q_mean) * own.rows.batch.rows;
    keep_errors(own.rows, g.values(fit.error));
    const double norm =
        own.critics.minimise(fit.loss, critics.parameters(), metrics.learning_rate, guard_);
    if (std::isnan(norm)) return false;
  }
  if (rows > 0) metrics.q_mean /= rows;
  return true;
}

/// Comes after step_critics, and returns false as it does.
bool maddpg_learner::step_actors(maddpg_metrics& metrics) {
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    auto& own = own_[i];
    auto& g = *own.actor_graph;
    if (own.rows.batch.rows == 0) continue;
    const auto parameters = actor_of(i, actors_);
    g.clear();
    const auto loss = maddpg_actor_loss(g, networks_, i, own.actor.of(parameters), own.rows);
    metrics.actor_loss += g.number(loss);
    const double norm = own.actor.minimise(loss, parameters, metrics.learning_rate, guard_);
    if (std::isnan(norm)) return false;
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
  see(batch);
  maddpg_metrics metrics{.n_updates = ++n_updates_,
                         .learning_rate = chosen_lr.value_or(
                             annealed(options_.lr, options_.lr_schedule, progress_remaining))};
  bool taken = step_critics(batch, metrics);
  sum_td_errors(batch);
  metrics.trained_actor = taken && n_updates_ % options_.policy_delay == 0;
  if (metrics.trained_actor) {
    taken = step_actors(metrics);
    if (taken) update_targets();
  }
  metrics.skipped = !taken;
  if (taken) guard_.taken();
  return metrics;
}

named_tensors maddpg_learner::beside() const {
  named_tensors all;
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    for (auto& [name, tensor] : detail::tensors_of(networks_[i].critics)) {
      all.emplace_back(networks_.shape().policies[i].name + '.' + name, tensor);
    }
  }
  return all;
}

void maddpg_learner::start_from(std::span<const float> acting, const named_tensors& beside) {
  detail::expect_size("maddpg", "model", acting.size(), actors_.size());
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    const auto prefix = networks_.shape().policies[i].name + '.';
    named_tensors own;
    for (const auto& [name, tensor] : beside) {
      if (name.starts_with(prefix)) own.emplace_back(name.substr(prefix.size()), tensor);
    }
    if (own.empty() && !beside.empty()) {
      throw std::invalid_argument(prefix +
                                  "qf0.0.weight is missing, expected the critics of all "
                                  "policies");
    }
    detail::load(networks_[i].critics, own);
  }
  std::ranges::copy(acting, actors_.begin());
  target_actors_ = actors_;
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
                            .actor_optimizer = own_[i].actor.optimizer().state(),
                            .critic_optimizer = own_[i].critics.optimizer().state()});
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
    own_[i].actor.optimizer().set_state(of.actor_optimizer);
    own_[i].critics.optimizer().set_state(of.critic_optimizer);
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
