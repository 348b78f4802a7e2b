#include "algorithms/learner/trained_block.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace troupe::detail {
namespace {

std::string named(const std::string& name, const char* what) {
  return name.empty() ? what : name + ' ' + what;
}

}  // namespace

trained_block::trained_block(std::string name, std::size_t parameter_count, adam_options options,
                             std::vector<parameter_range> undecayed)
    : trained_block(std::move(name), parameter_count, options, std::span<const parameter_range>()) {
  parts_.push_back({{0, parameter_count}, adam(parameter_count, options, std::move(undecayed))});
}

trained_block::trained_block(std::string name, std::size_t parameter_count, adam_options options,
                             std::span<const parameter_range> parts)
    : name_(std::move(name)),
      loss_name_(named(name_, "loss")),
      norm_name_(named(name_, "gradient norm")),
      gradient_(parameter_count) {
  for (const auto& range : parts) parts_.push_back({range, adam(range.count, options)});
}

double trained_block::minimise(variable loss, std::span<float> parameters, double lr,
                               skip_guard& guard, std::span<const std::uint8_t> due) {
  constexpr double skipped = std::numeric_limits<double>::quiet_NaN();
  const double number = loss.owner().number(loss);
  if (!std::isfinite(static_cast<float>(number))) {
    guard.skipped(loss_name_.c_str(), number);
    return skipped;
  }
  loss.owner().backward(loss);
  const std::span<const float> gradient(gradient_);
  double squares = 0.0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!due.empty() && due[i] == 0) continue;
    const auto [first, count] = parts_[i].range;
    const double norm = parts_[i].optimizer.step(parameters.subspan(first, count),
                                                 gradient.subspan(first, count), lr);
    squares += norm * norm;
  }
  const double norm = std::sqrt(squares);
  if (std::isfinite(norm)) return norm;
  guard.skipped(norm_name_.c_str(), norm);
  return skipped;
}

void trained_block::visit_state(state_visitor& visit, const std::string& prefix) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    auto name = prefix + (name_.empty() ? "optimizer" : name_ + "_optimizer");
    if (parts_.size() > 1) name += '_' + std::to_string(i);
    visit(name, parts_[i].optimizer);
  }
}

}  // namespace troupe::detail
