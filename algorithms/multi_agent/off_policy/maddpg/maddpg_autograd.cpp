#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/off_policy/maddpg/maddpg_autograd.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "algorithms/multi_agent/off_policy/maddpg/learner.hpp"
#include "algorithms/off_policy/batch_tensors.hpp"
#include "algorithms/off_policy/critic_autograd.hpp"
#include "algorithms/off_policy/learner_checks.hpp"
#include "algorithms/off_policy/model_tensors.hpp"

namespace troupe {
namespace detail {
namespace {

std::size_t policy_of(const maddpg_networks& networks, std::size_t agent) {
  return static_cast<std::size_t>(networks.shape().agents[agent].policy);
}

/// Which rows of joint observations [B, D] the agent acts in, [B, 1] of ones and zeros.
at::Tensor acts_in(const maddpg_networks& networks, std::size_t agent, const at::Tensor& obs) {
  const int at = networks.shape().agents[agent].active;
  if (at < 0) return at::ones({obs.size(0), 1}, obs.options());
  return (obs.narrow(1, at, 1) != 0).to(obs.scalar_type());
}

at::Tensor one_hot(std::int64_t rows, std::int64_t width, std::int64_t at, const at::Tensor& like) {
  auto made = at::zeros({rows, width}, like.options());
  if (width > 0) made.select(1, at).fill_(1.0);
  return made;
}

/// What the actor of an agent sees.
at::Tensor inputs_of(const maddpg_networks& networks, std::size_t agent, const at::Tensor& obs) {
  const auto& view = networks.shape().agents[agent];
  return at::cat(
      {obs.narrow(1, view.obs_begin, view.obs_size), one_hot(obs.size(0), view.ids, view.id, obs)},
      1);
}

/// What the critics of an agent see.
at::Tensor view_of(const maddpg_networks& networks, std::size_t agent, const at::Tensor& obs) {
  const auto ids = static_cast<std::int64_t>(networks[policy_of(networks, agent)].ids);
  std::vector<at::Tensor> parts;
  if (networks.sees_observations()) {
    for (std::size_t i = 0; i < networks.shape().agents.size(); ++i) {
      const auto& view = networks.shape().agents[i];
      parts.push_back(obs.narrow(1, view.obs_begin, view.obs_size) * acts_in(networks, i, obs));
    }
  } else {
    parts.push_back(obs.narrow(1, static_cast<std::int64_t>(networks.seen().begin),
                               static_cast<std::int64_t>(networks.seen().size)));
  }
  parts.push_back(one_hot(obs.size(0), ids, networks.shape().agents[agent].id, obs));
  return at::cat(parts, 1);
}

/// The actions [B, A] that critics see, from those of each agent.
at::Tensor joined(const maddpg_networks& networks, const std::vector<at::Tensor>& of_agents,
                  const at::Tensor& obs) {
  std::vector<at::Tensor> parts;
  for (std::size_t i = 0; i < of_agents.size(); ++i) {
    parts.push_back(networks.is_scripted(i) ? at::zeros_like(of_agents[i])
                                            : of_agents[i] * acts_in(networks, i, obs));
  }
  return at::cat(parts, 1);
}

/// The part of actions [B, A] that is an agent's.
at::Tensor own_part(const maddpg_networks& networks, std::size_t agent, const at::Tensor& all) {
  return all.narrow(1, networks.shape().agents[agent].floats_begin,
                    static_cast<std::int64_t>(networks[policy_of(networks, agent)].actions));
}

std::vector<at::Tensor> apart(const maddpg_networks& networks, const at::Tensor& all) {
  std::vector<at::Tensor> parts;
  for (std::size_t i = 0; i < networks.shape().agents.size(); ++i) {
    parts.push_back(own_part(networks, i, all));
  }
  return parts;
}

at::Tensor target_actions_of(const maddpg_networks& networks, const at::Tensor& target_actors,
                             const at::Tensor& next_obs, const at::Tensor& noise) {
  std::vector<at::Tensor> parts;
  for (std::size_t i = 0; i < networks.shape().agents.size(); ++i) {
    const auto& of = networks[policy_of(networks, i)];
    const auto own = target_actors.narrow(0, static_cast<std::int64_t>(of.first),
                                          static_cast<std::int64_t>(of.actor.parameter_count()));
    const auto mu = of.actor.forward(own, inputs_of(networks, i, next_obs));
    parts.push_back((mu + own_part(networks, i, noise)).clamp(-1.0, 1.0));
  }
  return joined(networks, parts, next_obs);
}

/// The numbers of the rows in which an agent acts.
at::Tensor rows_of(const maddpg_networks& networks, std::size_t agent, const at::Tensor& obs) {
  return acts_in(networks, agent, obs).squeeze(1).nonzero().squeeze(1);
}

at::Tensor joint_obs(const std::vector<float>& obs, const maddpg_networks& networks, int rows,
                     at::ScalarType type) {
  return tensor_of(obs, {rows, networks.shape().obs_size}, type);
}

}  // namespace

maddpg_critic_result maddpg_critic_gradient(const maddpg_networks& networks, std::size_t policy,
                                            const at::Tensor& target_actors,
                                            const at::Tensor& critics,
                                            const at::Tensor& target_critics,
                                            const transition_batch& batch,
                                            const at::Tensor& noise) {
  const auto type = critics.scalar_type();
  const std::int64_t rows = batch.rows;
  const auto agents = static_cast<std::int64_t>(networks.shape().agents.size());
  const auto& of = networks[policy].critics;
  const auto obs = joint_obs(batch.obs, networks, batch.rows, type);
  const auto next_obs = joint_obs(batch.next_obs, networks, batch.rows, type);
  const auto action =
      joined(networks, apart(networks, tensor_of(batch.action, {rows, -1}, type)), obs);
  const auto reward = tensor_of(batch.agent_reward, {rows, agents}, type);
  const auto terminated = tensor_of(batch.agent_terminated, {rows, agents}, type);
  const auto discount = tensor_of(batch.discount, {rows}, type);
  maddpg_critic_result result{.gradient = {}, .td_error = at::zeros({rows, agents}, obs.options())};
  at::Tensor next_action;
  {
    const at::NoGradGuard no_grad;
    next_action = target_actions_of(networks, target_actors, next_obs, noise);
  }
  const at::AutoGradMode with_grad(true);
  const auto leaf = critics.detach().requires_grad_();
  auto squares = at::zeros({}, obs.options()), values = at::zeros({}, obs.options());
  for (const auto agent : networks.rows().agents_of(policy)) {
    const auto i = static_cast<std::int64_t>(agent);
    const auto at = rows_of(networks, agent, obs);
    if (at.size(0) == 0) continue;
    const auto these = [&](const at::Tensor& all) { return all.index_select(0, at); };
    at::Tensor y;
    {
      const at::NoGradGuard no_grad;
      const auto goes_on =
          acts_in(networks, agent, next_obs).squeeze(1) * (1.0 - terminated.select(1, i));
      const auto next = critic_values(of, target_critics, view_of(networks, agent, next_obs),
                                      next_action, of.count());
      y = these(reward.select(1, i) + discount * goes_on * std::get<0>(next.min(1)));
    }
    const auto q =
        critic_values(of, leaf, these(view_of(networks, agent, obs)), these(action), of.count());
    const auto error = q - y.unsqueeze(1);
    auto each = error.square().sum(1);
    if (!batch.weight.empty()) each = each * these(tensor_of(batch.weight, {rows}, type));
    squares = squares + each.sum();
    values = values + q.detach().select(1, 0).sum();
    result.td_error.select(1, i).index_copy_(0, at, error.detach().abs().mean(1));
    result.rows += at.size(0);
  }
  if (result.rows == 0) return result;
  const auto loss = squares / static_cast<double>(result.rows);
  result.loss = loss.item<double>();
  result.q_mean = values.item<double>() / static_cast<double>(result.rows);
  result.gradient = torch::autograd::grad({loss}, {leaf})[0];
  return result;
}

maddpg_actor_result maddpg_actor_gradient(const maddpg_networks& networks, std::size_t policy,
                                          const at::Tensor& actor, const at::Tensor& critics,
                                          const transition_batch& batch) {
  const auto type = actor.scalar_type();
  const auto& of = networks[policy];
  const auto obs = joint_obs(batch.obs, networks, batch.rows, type);
  const auto taken = apart(networks, tensor_of(batch.action, {batch.rows, -1}, type));
  const at::AutoGradMode with_grad(true);
  const auto leaf = actor.detach().requires_grad_();
  auto sum = at::zeros({}, obs.options());
  std::int64_t count = 0;
  for (const auto agent : networks.rows().agents_of(policy)) {
    const auto at = rows_of(networks, agent, obs);
    if (at.size(0) == 0) continue;
    auto actions = taken;
    actions[agent] = of.actor.forward(leaf, inputs_of(networks, agent, obs));
    const auto value = critic_values(of.critics, critics, view_of(networks, agent, obs),
                                     joined(networks, actions, obs), 1);
    sum = sum - value.index_select(0, at).sum();
    count += at.size(0);
  }
  if (count == 0) return {};
  const auto loss = sum / static_cast<double>(count);
  return {loss.item<double>(), torch::autograd::grad({loss}, {leaf})[0]};
}

}  // namespace detail

maddpg_learner::critic_result maddpg_learner::critic_gradient_by_autograd(
    std::size_t policy, const transition_batch& batch) {
  const auto block = detail::tensor_of_block;
  auto& critics = networks_[policy].critics;
  const auto& own = std::as_const(critics);
  const auto result = detail::maddpg_critic_gradient(
      networks_, policy, block(target_actors_), block(own.parameters()), block(own.target()), batch,
      detail::tensor_of(noise_, {batch.rows, -1}, at::kFloat));
  if (result.rows == 0) return {};
  detail::copy_to(result.gradient, critics.gradient());
  std::vector<float> errors(agent_errors_.size());
  detail::copy_to(result.td_error.contiguous().view({-1}), errors);
  for (std::size_t i = 0; i < errors.size(); ++i) agent_errors_[i] += errors[i];
  return {result.loss, result.q_mean, static_cast<std::size_t>(result.rows)};
}

double maddpg_learner::actor_gradient_by_autograd(std::size_t policy,
                                                  const transition_batch& batch) {
  const auto block = detail::tensor_of_block;
  const auto result = detail::maddpg_actor_gradient(
      networks_, policy, block(actor_of(policy, actors_)),
      block(std::as_const(networks_[policy].critics).parameters()), batch);
  detail::copy_to(result.gradient, actor_of(policy, actor_gradient_));
  return result.loss;
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

}  // namespace troupe
