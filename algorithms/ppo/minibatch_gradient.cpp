#include "actors/torch.hpp"

#include "algorithms/ppo/minibatch_gradient.hpp"

namespace troupe::detail {

ppo_loss_metrics minibatch_gradient::evaluate(actor_critic& model, const minibatch& of) {
  return model.is_fused() ? evaluate_fused(model, of) : evaluate_libtorch(model, of);
}

void minibatch_gradient::differentiate(actor_critic& model, const minibatch& of) {
  if (model.is_fused()) {
    model.backward_rows(of.obs(), of.rows(), of.actions(), d_log_prob_.data(), d_entropy_.data(),
                        d_value_.data());
    return;
  }
  model.zero_gradient();
  loss_.backward();
  loss_ = at::Tensor();
}

ppo_loss_metrics minibatch_gradient::evaluate_fused(actor_critic& model, const minibatch& of) {
  const auto rows = static_cast<std::size_t>(of.rows());
  for (auto* derivatives : {&d_log_prob_, &d_entropy_, &d_value_}) {
    if (derivatives->size() < rows) derivatives->resize(rows);
  }
  const auto evaluation = model.evaluate_rows(of.obs(), of.rows(), of.actions());
  return ppo_loss_with_gradient(of.loss_rows(evaluation), options_,
                                {d_log_prob_.data(), d_entropy_.data(), d_value_.data()});
}

ppo_loss_metrics minibatch_gradient::evaluate_libtorch(actor_critic& model, const minibatch& of) {
  const at::AutoGradMode with_graph(true);
  const auto evaluation = model.evaluate(of.obs_tensor(), of.action_tensor());
  auto [loss, metrics] = ppo_loss(of.loss_inputs(evaluation), options_);
  loss_ = loss;
  return metrics;
}

}  // namespace troupe::detail
