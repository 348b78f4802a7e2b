#include "actors/torch/torch.hpp"

#include "algorithms/losses/policy_ratio.hpp"

namespace troupe {

at::Tensor log_ratio(const at::Tensor& log_prob, const at::Tensor& anchor) {
  return (log_prob - anchor.detach()).clamp(-log_ratio_limit, log_ratio_limit);
}

at::Tensor token_ratio(const at::Tensor& log_prob, const at::Tensor& anchor) {
  return log_ratio(log_prob, anchor).exp();
}

at::Tensor sequence_ratio(const at::Tensor& log_prob, const at::Tensor& anchor,
                          const token_rows& rows) {
  const auto mean = rows.means(log_prob - anchor.detach());
  return rows.spread(mean.clamp(-log_ratio_limit, log_ratio_limit).exp());
}

}  // namespace troupe
