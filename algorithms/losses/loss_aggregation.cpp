#include "actors/torch/torch.hpp"

#include "algorithms/losses/loss_aggregation.hpp"

namespace troupe {
namespace {

double above_zero(const char* name, std::int64_t divisor) {
  TORCH_CHECK(divisor > 0, "aggregated: ", name, ": expected a number > 0, got ", divisor);
  return static_cast<double>(divisor);
}

}  // namespace

at::Tensor aggregated(const at::Tensor& of_tokens, const token_rows& rows, loss_aggregation how,
                      const loss_divisor& whole, const at::Tensor& length_max) {
  rows.check_tokens("of_tokens", of_tokens);
  switch (how) {
    case loss_aggregation::token_mean:
      return of_tokens.sum() / above_zero("tokens", whole.tokens);
    case loss_aggregation::sequence_mean:
      return rows.means(of_tokens).sum() / above_zero("answers", whole.answers);
    case loss_aggregation::sequence_sum:
      return of_tokens.sum() / above_zero("answers", whole.answers);
    case loss_aggregation::constant_length:
      if (length_max.defined()) {
        const auto divisor = rows.spread(length_max).to(of_tokens.scalar_type());
        return (of_tokens / divisor).sum() / above_zero("answers", whole.answers);
      }
      return of_tokens.sum() /
             (above_zero("answers", whole.answers) * above_zero("length_max", whole.length_max));
  }
  TORCH_CHECK(false, "aggregated: expected one of the ways");
}

}  // namespace troupe
