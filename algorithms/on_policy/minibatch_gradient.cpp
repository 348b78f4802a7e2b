#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/minibatch_gradient.hpp"

#include <array>

namespace troupe::detail {
namespace {

/// Every number of the metrics is a mean over rows, or a sum of such means.
constexpr std::array means{&ppo_loss_metrics::loss,
                           &ppo_loss_metrics::policy_gradient_loss,
                           &ppo_loss_metrics::value_loss,
                           &ppo_loss_metrics::entropy_loss,
                           &ppo_loss_metrics::approx_kl,
                           &ppo_loss_metrics::clip_fraction,
                           &ppo_loss_metrics::importance_weight};
static_assert(sizeof(ppo_loss_metrics) == means.size() * sizeof(double));

}  // namespace

ppo_loss_metrics minibatch_gradient::evaluate(actor_critic& model, const minibatch& of,
                                              std::size_t rows, double progress_remaining) {
  share_ = static_cast<double>(of.rows()) / static_cast<double>(rows);
  ppo_loss_metrics metrics;
  if (of.rows() > 0) metrics = evaluate_own(model, of, progress_remaining);
  if (ranks_.is_alone()) return metrics;
  std::array<double, means.size()> numbers{};
  for (std::size_t i = 0; i < means.size(); ++i) numbers[i] = metrics.*means[i];
  ranks_.mean(std::span<double>(numbers), share_);
  for (std::size_t i = 0; i < means.size(); ++i) metrics.*means[i] = numbers[i];
  return metrics;
}

void minibatch_gradient::differentiate(actor_critic& model, const minibatch& of) {
  if (of.rows() > 0) differentiate_own(model, of);
  ranks_.mean(std::span<float>(model.gradient().data_ptr<float>(),
                               static_cast<std::size_t>(model.trained_count())),
              share_);
}

ppo_loss_metrics minibatch_gradient::evaluate_own(actor_critic& model, const minibatch& of,
                                                  double progress) {
  if (!model.is_fused()) {
    const at::AutoGradMode with_graph(true);
    const auto evaluation =
        model.evaluate(of.obs_tensor(), of.action_tensor(), of.continuous_tensor());
    const auto [loss, metrics] = loss_.of_tensors(of.loss_inputs(evaluation), progress);
    loss_with_graph_ = loss;
    return metrics;
  }
  const auto rows = static_cast<std::size_t>(of.rows());
  for (auto* derivatives : {&d_log_prob_, &d_entropy_, &d_value_}) {
    if (derivatives->size() < rows) derivatives->resize(rows);
  }
  const auto evaluation = model.evaluate_rows(of.obs(), of.rows(), of.actions());
  return loss_.of_rows(of.loss_rows(evaluation),
                       {d_log_prob_.data(), d_entropy_.data(), d_value_.data()}, progress);
}

void minibatch_gradient::differentiate_own(actor_critic& model, const minibatch& of) {
  if (model.is_fused()) {
    model.backward_rows(of.obs(), of.rows(), of.actions(), d_log_prob_.data(), d_entropy_.data(),
                        d_value_.data());
    return;
  }
  model.zero_gradient();
  loss_with_graph_.backward();
  loss_with_graph_ = at::Tensor();
}

}  // namespace troupe::detail
