#include "actors/torch/torch.hpp"

#include "algorithms/losses/importance_correction.hpp"

#include "algorithms/losses/policy_ratio.hpp"

namespace troupe {

correction importance_correction(const at::Tensor& to, const at::Tensor& behaviour,
                                 const token_rows& rows, const correction_options& options) {
  const at::NoGradGuard no_grad;
  rows.check_tokens("to", to);
  rows.check_tokens("behaviour", behaviour);
  auto log_weight = to.detach() - behaviour.detach();
  if (options.level == correction_level::sequence) log_weight = rows.spread(rows.sums(log_weight));
  const auto weight = log_weight.clamp(-log_ratio_limit, log_ratio_limit).exp();

  correction found{.weight = at::ones_like(weight), .mean = weight.mean().item<double>()};
  if (options.kind == correction_kind::none) return found;
  auto outside = weight > options.max;
  if (options.kind == correction_kind::truncate) {
    found.weight = weight.clamp_max(options.max);
  } else {
    outside = outside.logical_or(weight < options.min);
    found.weight = weight.masked_fill(outside, 0.0);
  }
  found.out_of_range = outside.to(at::kDouble).mean().item<double>();
  return found;
}

}  // namespace troupe
