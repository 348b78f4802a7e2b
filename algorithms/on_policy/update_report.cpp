#include "algorithms/on_policy/update_report.hpp"

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

void update_sums::stepped(double grad_norm) {
  grad_norm_ += grad_norm;
  ++steps_;
}

void update_sums::write(on_policy_report& to) const {
  const auto mean = [](double sum, std::int64_t count) {
    return count ? sum / static_cast<double>(count) : 0.0;
  };
  to.loss = {.loss = last_loss_,
             .policy_gradient_loss = mean(total_.policy_gradient_loss, minibatches_),
             .value_loss = mean(total_.value_loss, minibatches_),
             .entropy_loss = mean(total_.entropy_loss, minibatches_),
             .approx_kl = mean(kl_of_epoch_, minibatches_of_epoch_),
             .clip_fraction = mean(total_.clip_fraction, minibatches_),
             .importance_weight = mean(total_.importance_weight, minibatches_)};
  to.grad_norm = mean(grad_norm_, steps_);
  to.optimizer_steps = steps_;
  to.skipped_steps = skipped_;
}

}  // namespace troupe::detail
