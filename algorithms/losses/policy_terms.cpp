#include "actors/torch/torch.hpp"

#include "algorithms/losses/policy_terms.hpp"

namespace troupe {

at::Tensor clipped_term(const at::Tensor& ratio, const at::Tensor& advantage,
                        const clip_options& clip) {
  const auto a = advantage.detach();
  const auto worse = at::min(ratio * a, ratio.clamp(1.0 - clip.low, 1.0 + clip.high) * a);
  if (!clip.dual) return -worse;
  return -at::where(a < 0, at::max(worse, *clip.dual * a), worse);
}

at::Tensor cispo_term(const at::Tensor& log_prob, const at::Tensor& ratio,
                      const at::Tensor& advantage, double ratio_max) {
  return -ratio.detach().clamp_max(ratio_max) * advantage.detach() * log_prob;
}

at::Tensor reinforce_term(const at::Tensor& log_prob, const at::Tensor& advantage) {
  return -advantage.detach() * log_prob;
}

clip_fractions clip_fractions_of(const at::Tensor& ratio, const at::Tensor& advantage,
                                 const clip_options& clip) {
  const at::NoGradGuard no_grad;
  const auto share = [](const at::Tensor& which) {
    return which.to(at::kDouble).mean().item<double>();
  };
  return {share((ratio < 1.0 - clip.low).logical_and(advantage < 0)),
          share((ratio > 1.0 + clip.high).logical_and(advantage > 0))};
}

}  // namespace troupe
