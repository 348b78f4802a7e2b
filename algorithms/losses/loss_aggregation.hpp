#pragma once
// Aggregates the losses of tokens to the loss of a batch. grpo_loss.hpp uses it.

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "algorithms/losses/token_rows.hpp"

namespace troupe {

/// How the losses of tokens become one number. B is the number of answers, L_max the number of
/// tokens of the longest answer that is allowed.
enum class loss_aggregation {
  token_mean,       ///< sum over all tokens / their number: DAPO, arXiv:2503.14476, equation 12
  sequence_mean,    ///< mean over answers of the mean over tokens: GRPO, arXiv:2402.03300, equation
                    ///< 3; short right answers count for more, long wrong ones for less
  sequence_sum,     ///< mean over answers of the sum over tokens: the policy gradient itself
  constant_length,  ///< sum / (B L_max): Dr.GRPO, arXiv:2503.20783, section 3.2; each answer has
                    ///< the L_max of its task
};

/// The sizes of the whole batch of one optimiser step. They are known before its first micro-batch,
/// so the losses of micro-batches add up to the loss of the batch.
struct loss_divisor {
  std::int64_t tokens = 0;
  std::int64_t answers = 0;
  /// L_max; read only with constant_length, unless each answer has its own.
  std::int64_t length_max = 0;
};

/// The share of these answers in the batch's loss, a scalar. `of_tokens` [T] are the losses of
/// their tokens. `length_max` [N] is the L_max of each answer; undefined means that of `whole`.
/// Throws c10::Error if a divisor that is needed is not above 0.
at::Tensor aggregated(const at::Tensor& of_tokens, const token_rows& rows, loss_aggregation how,
                      const loss_divisor& whole, const at::Tensor& length_max = {});

}  // namespace troupe
