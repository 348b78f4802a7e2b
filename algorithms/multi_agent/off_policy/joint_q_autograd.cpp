#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/off_policy/joint_q_autograd.hpp"

#include "algorithms/multi_agent/off_policy/learner.hpp"
#include "algorithms/off_policy/batch_tensors.hpp"

namespace troupe {
namespace detail {
namespace {

/// What joint observations [B, D] say of one agent.
struct agent_part {
  at::Tensor inputs;  ///< [B, inputs of its policy]
  at::Tensor mask;    ///< [B, its choices] of ones and zeros; undefined without masks
  at::Tensor acts;    ///< [B] of ones and zeros
};

agent_part part_of(const at::Tensor& obs, const network_shape& shape, std::size_t agent) {
  const auto& view = shape.agents[agent];
  const auto rows = obs.size(0);
  std::vector<at::Tensor> seen{obs.narrow(1, view.obs_begin, view.obs_size)};
  for (int id = 0; id < view.ids; ++id) {
    seen.push_back(at::full({rows, 1}, id == view.id ? 1.0 : 0.0, obs.options()));
  }
  agent_part made{.inputs = at::cat(seen, 1), .mask = {}, .acts = at::ones({rows}, obs.options())};
  const auto& policy = shape.policies[static_cast<std::size_t>(view.policy)];
  if (policy.mask_size > 0) {
    made.mask = (obs.narrow(1, view.mask_begin, policy.mask_size) > 0).to(obs.scalar_type());
    const auto none = made.mask.sum(1, true) == 0;  // then all are allowed
    made.mask = at::where(none, at::ones_like(made.mask), made.mask);
  }
  if (view.active >= 0) made.acts = (obs.select(1, view.active) != 0).to(obs.scalar_type());
  return made;
}

/// The values Q(o, .) of one agent [B, actions].
at::Tensor values_of(const joint_q_networks& networks, const at::Tensor& parameters,
                     std::size_t agent, const at::Tensor& inputs) {
  const auto& of = networks[static_cast<std::size_t>(networks.policy_of_agent()[agent])];
  const auto own = parameters.narrow(0, static_cast<std::int64_t>(of.first),
                                     static_cast<std::int64_t>(of.stack.parameter_count()));
  return of.stack.forward(own, inputs);
}

at::Tensor allowed_only(const at::Tensor& values, const at::Tensor& mask) {
  return mask.defined() ? values.masked_fill(mask == 0, -std::numeric_limits<double>::infinity())
                        : values;
}

}  // namespace

joint_q_autograd_result joint_q_gradient_by_autograd(const joint_q_networks& networks,
                                                     const value_mixer* mixer,
                                                     const std::vector<std::uint8_t>& trained,
                                                     bool double_q, const at::Tensor& online,
                                                     const at::Tensor& target,
                                                     const transition_batch& batch) {
  const auto type = online.scalar_type();
  const std::int64_t rows = batch.rows;
  const auto& shape = networks.shape();
  const auto agents = static_cast<std::int64_t>(networks.agents());
  const auto column = [&](const std::vector<float>& x) { return tensor_of(x, {rows}, type); };
  const auto of_agents = [&](const std::vector<float>& x) {
    return tensor_of(x, {rows, agents}, type);
  };
  const auto obs = tensor_of(batch.obs, {rows, shape.obs_size}, type);
  const auto next_obs = tensor_of(batch.next_obs, {rows, shape.obs_size}, type);
  const auto choice =
      at::from_blob(const_cast<std::int64_t*>(batch.choice.data()), {rows, agents}, at::kLong);
  const auto terminated = of_agents(batch.agent_terminated);

  const at::AutoGradMode with_grad(true);
  const auto leaf = online.detach().requires_grad_();
  std::vector<at::Tensor> chosen, next, acts;
  for (std::size_t i = 0; i < networks.agents(); ++i) {
    const auto now = part_of(obs, shape, i);
    const auto later = part_of(next_obs, shape, i);
    const auto policy = static_cast<std::size_t>(shape.agents[i].policy);
    acts.push_back(trained[policy] ? now.acts : at::zeros_like(now.acts));
    const auto taken = choice.select(1, shape.agents[i].integers_begin).unsqueeze(1);
    chosen.push_back(values_of(networks, leaf, i, now.inputs).gather(1, taken).squeeze(1) *
                     acts.back());
    const at::NoGradGuard no_grad;
    const auto values = values_of(networks, target, i, later.inputs);
    const auto chooser = double_q ? values_of(networks, online, i, later.inputs) : values;
    const auto best = allowed_only(chooser, later.mask).argmax(1, true);
    const auto goes_on = later.acts * (1.0 - terminated.select(1, static_cast<std::int64_t>(i)));
    next.push_back(values.gather(1, best).squeeze(1) * goes_on);
  }
  const auto q = at::stack(chosen, 1), next_q = at::stack(next, 1);
  const auto weight = batch.weight.empty() ? at::Tensor() : column(batch.weight);
  const auto discount = column(batch.discount);
  td_loss_result result;
  if (mixer) {
    const auto first = static_cast<std::int64_t>(networks.parameter_count());
    const auto of_mixer = [&](const at::Tensor& all) {
      return all.narrow(0, first, all.size(0) - first);
    };
    at::Tensor next_total;
    {
      const at::NoGradGuard no_grad;
      next_total = mixer->mix(of_mixer(target), next_obs, next_q);
    }
    result = team_td_loss(team_td_inputs{.q_total = mixer->mix(of_mixer(leaf), obs, q),
                                         .next_total = next_total,
                                         .reward = column(batch.reward),
                                         .terminated = column(batch.terminated),
                                         .discount = discount,
                                         .weight = weight});
  } else {
    result = agent_td_loss(agent_td_inputs{.policy = networks.policy_of_agent(),
                                           .policies = static_cast<int>(networks.policies()),
                                           .acts = at::stack(acts, 1),
                                           .q = q,
                                           .next = next_q,
                                           .reward = of_agents(batch.agent_reward),
                                           .terminated = terminated,
                                           .discount = discount,
                                           .weight = weight});
  }
  return {{result.loss.item<double>(), result.q_mean.item<double>()},
          torch::autograd::grad({result.loss}, {leaf})[0],
          result.td_error};
}

}  // namespace detail

td_loss_metrics joint_q_learner::libtorch_gradient(const transition_batch& batch) {
  const auto block = detail::tensor_of_block;
  const auto result =
      detail::joint_q_gradient_by_autograd(networks_, mixer_.get(), trained_, options_.double_q,
                                           block(parameters_), block(target_), batch);
  detail::copy_to(result.gradient, gradient_);
  detail::copy_to(result.td_error, td_errors_);
  return result.metrics;
}

named_tensors joint_q_learner::beside() const {
  if (!mixer_) return {};
  return tensors_of(mixer_->layout(), parameters_.data() + networks_.parameter_count());
}

}  // namespace troupe
