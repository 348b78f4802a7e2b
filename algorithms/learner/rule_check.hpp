#pragma once
// Holds the gradients of an update rule to finite differences.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace troupe {

/// What a check has found out about a tensor of parameters.
enum class gradient_verdict {
  right,    ///< The gradient is that of the loss.
  unused,   ///< The loss depends on none of its numbers, and the gradient is 0.
  missing,  ///< The gradient is 0 although the loss depends on the tensor.
  wrong,    ///< The gradient is another one.
  rough,    ///< The loss has a corner here, so that it has no derivative.
};

struct checked_tensor {
  std::string loss;         ///< "loss 1", in the order in which the rule differentiates them.
  std::string tensor;       ///< "2: weight [64, 64]", in the order in which the loss uses them.
  double largest = 0.0;     ///< The largest derivative of the loss along the directions.
  double difference = 0.0;  ///< The largest distance of the gradient from it, as a share of it.
  gradient_verdict verdict = gradient_verdict::right;
};

/// The result of check_rule.
struct rule_report {
  std::vector<checked_tensor> tensors;
  bool is_right() const;
};

/// Checks the first loss that each graph of a rule differentiates. `make` makes a learner and a
/// batch, the same ones each time, and returns a function that makes an update with them.
///
/// For each tensor of parameters the derivative of the loss along its gradient and along three
/// random directions of `seed` is estimated by (L(w + h d) - L(w - h d)) / 2h, with |d| = 1 and h =
/// 0.001, in double precision. It may differ from the gradient's, which has single precision, by 1
/// % of the tensor's largest derivative and by 0.001 % of the largest one of all tensors. Where it
/// differs by more, it is estimated again with h = 0.0001 and h = 0.00001, since corners of the
/// loss between w - h d and w + h d shift it. The results of stop_gradient and argmax are
/// constants. Throws what the learner throws, and std::runtime_error if it differentiates no loss
/// or does not repeat its updates.
rule_report check_rule(const std::function<std::function<void()>()>& make, std::uint64_t seed);

/// Says in a sentence what may be wrong; empty for what is right.
std::string advice_of(gradient_verdict verdict);
/// The verdict in one word or two, such as "right".
std::string to_string(gradient_verdict verdict);

}  // namespace troupe
