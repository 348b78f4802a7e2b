#include "algorithms/on_policy/update_sums.hpp"

namespace troupe::detail {

void update_sums::add(const ppo_loss_metrics& m) {
  total_.policy_gradient_loss += m.policy_gradient_loss;
  total_.value_loss += m.value_loss;
  total_.entropy_loss += m.entropy_loss;
  total_.clip_fraction += m.clip_fraction;
  total_.importance_weight += m.importance_weight;
  kl_of_epoch_ += m.approx_kl;
  last_loss_ = m.loss;
  ++minibatches_;
  ++minibatches_of_epoch_;
}

void update_sums::add_norm(double grad_norm) {
  grad_norm_ += grad_norm;
  ++steps_;
}

void update_sums::write(const char* policy_loss, std::vector<named_number>& metrics) const {
  const auto mean = [](double sum, std::int64_t count) {
    return count ? sum / static_cast<double>(count) : 0.0;
  };
  const auto of_minibatches = [&](double sum) { return mean(sum, minibatches_); };
  const named_number written[] = {
      {"train/loss", last_loss_},
      {policy_loss, of_minibatches(total_.policy_gradient_loss)},
      {"train/value_loss", of_minibatches(total_.value_loss)},
      {"train/entropy_loss", of_minibatches(total_.entropy_loss)},
      {"train/approx_kl", mean(kl_of_epoch_, minibatches_of_epoch_)},
      {"train/clip_fraction", of_minibatches(total_.clip_fraction)},
      {"train/importance_weight", of_minibatches(total_.importance_weight)},
      {"train/grad_norm", mean(grad_norm_, steps_)}};
  metrics.insert(metrics.end(), std::begin(written), std::end(written));
}

}  // namespace troupe::detail
