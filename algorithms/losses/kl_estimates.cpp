#include "actors/torch/torch.hpp"

#include "algorithms/losses/kl_estimates.hpp"

#include "algorithms/losses/policy_ratio.hpp"

namespace troupe {

at::Tensor kl_estimate(kl_kind kind, const at::Tensor& log_prob, const at::Tensor& reference) {
  const auto minus_d = log_ratio(log_prob, reference);
  switch (kind) {
    case kl_kind::k1:
      return minus_d;
    case kl_kind::k2:
      return minus_d.square() / 2;
    case kl_kind::k3:
      // Near 0 the difference of e^d and 1 would have no digits left.
      return (-minus_d).expm1() + minus_d;
  }
  TORCH_CHECK(false, "kl_estimate: expected one of the kinds");
}

at::Tensor kl_of_answers(const at::Tensor& log_prob, const at::Tensor& reference,
                         const token_rows& rows) {
  return rows.sums(kl_estimate(kl_kind::k1, log_prob.detach(), reference));
}

}  // namespace troupe
