#pragma once
// The optimiser step that all learners take.

#include <span>
#include <string>
#include <vector>

#include "actors/gradients/graph.hpp"
#include "actors/kernels/float_block.hpp"
#include "actors/trainer/adam.hpp"
#include "algorithms/learner/skip_guard.hpp"

namespace troupe::detail {

/// The gradient and the optimiser of a block of parameters.
class trained_block {
 public:
  /// `name` begins the names of what is not finite, such as "critic" for "critic loss"; it may be
  /// empty. `undecayed` is as adam's.
  trained_block(std::string name, std::size_t parameter_count, adam_options options,
                std::vector<parameter_range> undecayed = {});

  /// The parameters as a graph trains them.
  parameter_block of(std::span<const float> parameters) { return {parameters, gradient_}; }
  /// The gradient of the last loss, before clipping.
  std::span<const float> gradient() const { return gradient_; }
  adam& optimizer() { return optimizer_; }
  const adam& optimizer() const { return optimizer_; }

  /// Takes one step down the gradient of `loss` and returns the gradient's norm before clipping. If
  /// the loss or the norm is not finite, the parameters stay as they are, `guard` counts a skipped
  /// step, and the result is NaN.
  double minimise(variable loss, std::span<float> parameters, double lr, skip_guard& guard);

 private:
  std::string loss_name_, norm_name_;
  float_block gradient_;
  adam optimizer_;
};

}  // namespace troupe::detail
