#pragma once
// Actor-critic networks by a graph's engine, with tensors for arguments and results. Comes after
// actors/torch/torch.hpp.

#include <ATen/core/Tensor.h>

#include <span>

#include "actors/gradients/engine.hpp"
#include "actors/gradients/policy.hpp"

namespace troupe {

inline std::span<const float> in_memory(const at::Tensor& numbers) {
  return {numbers.data_ptr<float>(), static_cast<std::size_t>(numbers.numel())};
}

/// The actions of `act`, whose tensors must outlive the result.
inline action_rows rows_of(const at::Tensor& action, const at::Tensor& continuous = {}) {
  const auto& floats = continuous.defined() ? continuous : action;
  action_rows rows;
  if (action.scalar_type() == at::kLong) rows.choice = action.data_ptr<std::int64_t>();
  if (floats.scalar_type() == at::kFloat) rows.value = floats.data_ptr<float>();
  return rows;
}

/// What a network thinks of actions, [N] each.
struct evaluated_rows {
  at::Tensor log_prob, entropy, value;
};

/// The weights of a loss, [N] each: the sum of log_prob times the first ones, entropy times the
/// second ones and value times the third ones.
struct row_weights {
  at::Tensor log_prob, entropy, value;
};

/// Evaluates actions with the engine `g`. With `weights` the gradient of their loss is written to
/// model.gradient().
inline evaluated_rows evaluated_by(graph& g, const actor_critic& model, const at::Tensor& obs,
                                   const action_rows& actions, const row_weights* weights) {
  g.clear();
  const auto now = evaluate(g, model, trained_parameters(model), in_memory(obs), actions);
  const auto copy = [&](variable x) {
    const auto numbers = g.values(x);
    return at::tensor(at::ArrayRef<float>(numbers.data(), numbers.size()));
  };
  evaluated_rows result{copy(now.log_prob), copy(now.entropy), copy(now.value)};
  if (weights) {
    g.backward(sum(now.log_prob, in_memory(weights->log_prob)) +
               sum(now.entropy, in_memory(weights->entropy)) +
               sum(now.value, in_memory(weights->value)));
  }
  return result;
}

/// The same by the engine of the network's backend, without a gradient.
inline evaluated_rows evaluated(const actor_critic& model, const at::Tensor& obs,
                                const at::Tensor& action, const at::Tensor& continuous = {}) {
  const auto rows = obs.contiguous(), actions = action.contiguous();
  return evaluated_by(*make_graph(model), model, rows, rows_of(actions, continuous), nullptr);
}

}  // namespace troupe
