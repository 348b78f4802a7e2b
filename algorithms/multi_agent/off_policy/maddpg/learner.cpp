#include "algorithms/multi_agent/off_policy/maddpg/learner.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "actors/gradients/engine.hpp"
#include "actors/trainer/polyak.hpp"
#include "algorithms/off_policy/model_tensors.hpp"
#include "algorithms/off_policy/td3/rule.hpp"

namespace troupe {

maddpg_learner::maddpg_learner(const network_shape& shape, const maddpg_options& options,
                               std::uint64_t seed, const agents_section& agents)
    : learner("maddpg", learning_of(options), seed),
      options_(checked_options(options, "maddpg")),
      networks_(shape, options.network, options.n_critics),
      trained_(trained_policies(agents, shape)),
      actors_(networks_.actor_count()),
      target_actors_(actors_.size()),
      reward_scale_(options.normalize_reward, networks_.shape().agents.size()) {
  const adam_options with{.eps = options.adam_eps, .max_grad_norm = options.max_grad_norm};
  const auto deciding = networks_.actors();
  const auto engine = [&] { return make_graph(options.backend, deciding); };
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    auto& of = networks_[i];
    of.actor.initialise(random(), options.network.ortho_init, 0.01, actors_.data() + of.first);
    of.critics.initialise(random(), options.network.ortho_init);
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
/// gradient is not finite.
bool maddpg_learner::step_critics(const transition_batch& batch) {
  double critic_loss = 0, q_sum = 0, rows = 0;
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
    critic_loss += g.number(fit.loss);
    q_sum += g.number(fit.q_mean) * own.rows.batch.rows;
    keep_errors(own.rows, g.values(fit.error));
    const double norm =
        own.critics.minimise(fit.loss, critics.parameters(), report().learning_rate, guard());
    if (std::isnan(norm)) return false;
  }
  report().metrics = {{"train/critic_loss", critic_loss},
                      {"train/q_mean", rows > 0 ? q_sum / rows : 0.0}};
  return true;
}

/// Comes after step_critics, and returns false as it does.
bool maddpg_learner::step_actors() {
  double actor_loss = 0;
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    auto& own = own_[i];
    auto& g = *own.actor_graph;
    if (own.rows.batch.rows == 0) continue;
    const auto parameters = actor_of(i, actors_);
    g.clear();
    const auto loss = maddpg_actor_loss(g, networks_, i, own.actor.of(parameters), own.rows);
    actor_loss += g.number(loss);
    const double norm = own.actor.minimise(loss, parameters, report().learning_rate, guard());
    if (std::isnan(norm)) return false;
  }
  report().metrics.push_back({"train/actor_loss", actor_loss});
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
  auto& td_errors = report().td_errors;
  td_errors.resize(static_cast<std::size_t>(batch.rows));
  for (std::size_t row = 0; row < td_errors.size(); ++row) {
    const float* obs = batch.obs.data() + row * static_cast<std::size_t>(shape.obs_size);
    float sum = 0.0f;
    int count = 0;
    for (std::size_t agent = 0; agent < agents; ++agent) {
      if (!trained_[static_cast<std::size_t>(shape.agents[agent].policy)]) continue;
      if (!networks_.acts(obs, agent)) continue;
      sum += agent_errors_[row * agents + agent];
      ++count;
    }
    td_errors[row] = count > 0 ? sum / static_cast<float>(count) : 0.0f;
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

void maddpg_learner::check_batch(const transition_batch& batch) const {
  check(batch, networks_.shape());
}

bool maddpg_learner::step(const transition_batch& given) {
  const auto& batch = scaled(given);
  agent_errors_.assign(static_cast<std::size_t>(batch.rows) * networks_.shape().agents.size(),
                       0.0f);
  noise_.resize(static_cast<std::size_t>(batch.rows) *
                static_cast<std::size_t>(networks_.shape().continuous_size));
  draw_target_noise(random(), options_.target_policy_noise, options_.target_noise_clip, noise_);
  see(batch);
  const bool taken = step_critics(batch);
  sum_td_errors(batch);
  if (!taken || n_updates() % options_.policy_delay != 0) return taken;
  if (!step_actors()) return false;
  update_targets();
  return true;
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
  expect_size_of(acting);
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

void maddpg_learner::visit_state(state_visitor& visit) {
  learner::visit_state(visit);
  visit("actors", actors_);
  visit("target_actors", target_actors_);
  for (std::size_t i = 0; i < networks_.policies(); ++i) {
    const auto policy = networks_.shape().policies[i].name + '.';
    auto& critics = networks_[i].critics;
    visit(policy + "critics", critics.parameters());
    visit(policy + "target_critics", critics.target());
    own_[i].actor.visit_state(visit, policy);
    own_[i].critics.visit_state(visit, policy);
  }
  visit("reward_scale", reward_scale_);
}

}  // namespace troupe
