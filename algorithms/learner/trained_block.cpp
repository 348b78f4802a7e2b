#include "algorithms/learner/trained_block.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace troupe::detail {

trained_block::trained_block(std::string name, std::size_t parameter_count, adam_options options,
                             std::vector<parameter_range> undecayed)
    : loss_name_(name.empty() ? "loss" : name + " loss"),
      norm_name_(name.empty() ? "gradient norm" : name + " gradient norm"),
      gradient_(parameter_count),
      optimizer_(parameter_count, options, std::move(undecayed)) {}

double trained_block::minimise(variable loss, std::span<float> parameters, double lr,
                               skip_guard& guard) {
  constexpr double skipped = std::numeric_limits<double>::quiet_NaN();
  const double number = loss.owner().number(loss);
  if (!std::isfinite(static_cast<float>(number))) {
    guard.skipped(loss_name_.c_str(), number);
    return skipped;
  }
  loss.owner().backward(loss);
  const double norm = optimizer_.step(parameters, gradient_, lr);
  if (std::isfinite(norm)) return norm;
  guard.skipped(norm_name_.c_str(), norm);
  return skipped;
}

}  // namespace troupe::detail
