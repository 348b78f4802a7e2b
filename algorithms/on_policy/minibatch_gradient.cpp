#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/minibatch_gradient.hpp"

#include <array>
#include <span>

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
  if (of.rows() > 0) {
    graph_->clear();
    const auto now =
        troupe::evaluate(*graph_, model, trained_parameters(model), of.obs(), of.actions());
    const auto result = loss_.function(of.loss_inputs(now), progress_remaining);
    result_ = result.loss;
    metrics = result.metrics;
  }
  if (ranks_.is_alone()) return metrics;
  std::array<double, means.size()> numbers{};
  for (std::size_t i = 0; i < means.size(); ++i) numbers[i] = metrics.*means[i];
  ranks_.mean(std::span<double>(numbers), share_);
  for (std::size_t i = 0; i < means.size(); ++i) metrics.*means[i] = numbers[i];
  return metrics;
}

void minibatch_gradient::differentiate(actor_critic& model) {
  if (share_ > 0.0) graph_->backward(result_);
  ranks_.mean(trained_parameters(model).gradient, share_);
}

}  // namespace troupe::detail
