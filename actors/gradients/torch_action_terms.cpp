#include "actors/torch/torch.hpp"

#include "actors/gradients/torch_action_terms.hpp"

#include <cmath>
#include <numbers>

namespace troupe::detail {
namespace {

// Returns the sums over categories of log p(choice) and of the entropy. `logits` has those of all
// categories one after another, `chosen` is [N, categories].
action_term_tensors of_categories(const at::Tensor& logits, const std::vector<int>& categories,
                                  const at::Tensor& chosen) {
  at::Tensor log_prob, entropy;
  std::int64_t from = 0;
  for (std::size_t i = 0; i < categories.size(); ++i) {
    const auto log_p = at::log_softmax(logits.narrow(1, from, categories[i]), 1);
    const auto log_prob_i = log_p.gather(1, chosen.narrow(1, i, 1));
    const auto entropy_i = -(log_p.exp() * log_p).sum(1, true);
    log_prob = i == 0 ? log_prob_i : log_prob + log_prob_i;
    entropy = i == 0 ? entropy_i : entropy + entropy_i;
    from += categories[i];
  }
  return {log_prob, entropy};
}

// Returns the sums over zeros and ones of log p(bit) and of the entropy, for logits [N, bits]:
// log p(1) = -softplus(-logit), log p(0) = -softplus(logit).
action_term_tensors of_bits(const at::Tensor& logits, const at::Tensor& bits) {
  const auto log_prob = bits.to(logits.scalar_type()) * logits - at::softplus(logits);
  const auto entropy = at::softplus(logits) - at::sigmoid(logits) * logits;
  return {log_prob.sum(1, true), entropy.sum(1, true)};
}

action_term_tensors of_gaussian(const at::Tensor& mean, const at::Tensor& log_std,
                                const at::Tensor& action) {
  const double half_log_two_pi = 0.5 * std::log(2.0 * std::numbers::pi);
  const auto z = (action - mean) * (-log_std).exp();
  const auto log_prob = (-0.5 * z * z - log_std - half_log_two_pi).sum(1, true);
  const auto entropy = (log_std + 0.5 + half_log_two_pi).sum(1, true).expand({mean.size(0), 1});
  return {log_prob, entropy};
}

}  // namespace

action_term_tensors action_terms(const action_head& head, const at::Tensor& outputs,
                                 const at::Tensor& log_std, const action_tensors& actions) {
  action_term_tensors terms;
  const auto add = [&](const action_term_tensors& part) {
    if (!terms.log_prob.defined()) {
      terms = part;
      return;
    }
    terms.log_prob = terms.log_prob + part.log_prob;
    terms.entropy = terms.entropy + part.entropy;
  };
  const std::int64_t floats = head.continuous_size(), bits = head.bits();
  const auto& categories = head.categories();
  const auto count = static_cast<std::int64_t>(categories.size());
  const auto logits = outputs.narrow(1, floats, outputs.size(1) - floats);
  if (floats > 0) add(of_gaussian(outputs.narrow(1, 0, floats), log_std, actions.value));
  if (count > 0) add(of_categories(logits, categories, actions.choice.narrow(1, 0, count)));
  if (bits > 0) {
    add(of_bits(logits.narrow(1, logits.size(1) - bits, bits),
                actions.choice.narrow(1, count, bits)));
  }
  return terms;
}

}  // namespace troupe::detail
