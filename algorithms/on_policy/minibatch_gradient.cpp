#include "actors/torch.hpp"

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

void minibatch_gradient::share_with(std::shared_ptr<collective> ranks) {
  ranks_ = std::move(ranks);
  options_.normalize_advantage = false;
}

ppo_loss_metrics minibatch_gradient::evaluate(actor_critic& model, const minibatch& of,
                                              std::size_t rows) {
  if (!ranks_) return evaluate_own(model, of);
  share_ = static_cast<double>(of.rows()) / static_cast<double>(rows);
  std::array<double, means.size()> shares{};
  if (of.rows() > 0) {
    const auto own = evaluate_own(model, of);
    for (std::size_t i = 0; i < means.size(); ++i) shares[i] = share_ * own.*means[i];
  }
  ranks_->sum(std::span<double>(shares));
  ppo_loss_metrics whole;
  for (std::size_t i = 0; i < means.size(); ++i) whole.*means[i] = shares[i];
  return whole;
}

void minibatch_gradient::differentiate(actor_critic& model, const minibatch& of) {
  if (!ranks_) return differentiate_own(model, of);
  const std::span<float> gradient(model.gradient().data_ptr<float>(),
                                  static_cast<std::size_t>(model.trained_count()));
  if (of.rows() > 0) {
    differentiate_own(model, of);
    for (auto& x : gradient) x *= static_cast<float>(share_);
  } else {
    model.zero_gradient();
  }
  ranks_->sum(gradient);
}

ppo_loss_metrics minibatch_gradient::evaluate_own(actor_critic& model, const minibatch& of) {
  return model.is_fused() ? evaluate_fused(model, of) : evaluate_libtorch(model, of);
}

void minibatch_gradient::differentiate_own(actor_critic& model, const minibatch& of) {
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
