#pragma once
// The optimiser step that all learners take.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/gradients/graph.hpp"
#include "actors/kernels/float_block.hpp"
#include "actors/trainer/adam.hpp"
#include "algorithms/learner/learner_state.hpp"
#include "algorithms/learner/skip_guard.hpp"

namespace troupe::detail {

/// The gradient of a block of parameters and its optimisers: one for all parameters, or one for
/// each of several parts.
class trained_block {
 public:
  /// `name` begins the names of what is not finite, such as "critic" for "critic loss"; it may be
  /// empty. `undecayed` is as adam's.
  trained_block(std::string name, std::size_t parameter_count, adam_options options,
                std::vector<parameter_range> undecayed = {});
  /// Each of the parts has an optimiser of its own. Parameters outside them are not trained.
  trained_block(std::string name, std::size_t parameter_count, adam_options options,
                std::span<const parameter_range> parts);

  /// The parameters as a graph trains them.
  parameter_block of(std::span<const float> parameters) { return {parameters, gradient_}; }
  /// The gradient of the last loss, before clipping.
  std::span<const float> gradient() const { return gradient_; }

  /// Takes one step down the gradient of `loss` and returns the norm of the whole gradient before
  /// clipping. If the loss or the norm is not finite, the parameters stay as they are, `guard`
  /// counts a skipped step, and the result is NaN. With several parts, those whose element of `due`
  /// is 0 are left as they are; empty means that all are due. A part whose own norm is finite is
  /// stepped even if another's is not.
  double minimise(variable loss, std::span<float> parameters, double lr, skip_guard& guard,
                  std::span<const std::uint8_t> due = {});

  /// Shows the state of the optimisers, with names that begin with `prefix`.
  void visit_state(state_visitor& visit, const std::string& prefix = {});

 private:
  struct part {
    parameter_range range;
    adam optimizer;
  };

  std::string name_, loss_name_, norm_name_;
  float_block gradient_;
  std::vector<part> parts_;
};

}  // namespace troupe::detail
