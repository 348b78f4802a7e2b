#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/critic_ensemble.hpp"

#include <utility>

#include "actors/gradients/perceptron.hpp"

namespace troupe::detail {
namespace {

constexpr std::size_t line = 16;  // floats

std::size_t whole_lines(std::size_t count) { return (count + line - 1) / line * line; }

std::size_t size_of_block(std::size_t critics, const std::optional<feature_extractor>& extractor) {
  if (!extractor) return critics;
  return critics + whole_lines(static_cast<std::size_t>(extractor->parameter_count()));
}

}  // namespace

critic_ensemble::critic_ensemble(const network_shape& shape, const network_options& options,
                                 int count)
    : critic_ensemble(shape, options, count, make_extractor(shape, options)) {}

critic_ensemble::critic_ensemble(const network_shape& shape, const network_options& options,
                                 int count, std::optional<feature_extractor> extractor)
    : count_(count),
      extractor_(std::move(extractor)),
      network_(make_mlp(
          options, (extractor_ ? extractor_->features() : shape.obs_size) + shape.continuous_size,
          options.critic_hidden.value_or(options.hidden), 1)),
      stride_(whole_lines(network_.parameter_count())),
      parameters_(size_of_block(stride_ * count, extractor_)),
      target_(parameters_.size()),
      // The critics, their gradients and their targets.
      link_(options.device, 3 * sizeof(float) * parameters_.size()) {}

void critic_ensemble::initialise(action_random& random, bool orthogonal) {
  for (int i = 0; i < count_; ++i) {
    float* parameters = parameters_.data() + i * stride_;
    if (orthogonal) {
      network_.initialise_orthogonal(random, 1.0, parameters);
    } else {
      network_.initialise_uniform(random, parameters);
    }
  }
  if (extractor_) {
    extractor_->initialise(random, orthogonal, parameters_.data() + extractor_offset());
  }
  target_ = parameters_;
}

variable critic_ensemble::values(variable obs, variable action,
                                 const parameter_block& block) const {
  const auto inputs = inputs_of(obs, action, block);
  auto all = value_of(0, inputs, block);
  for (int i = 1; i < count_; ++i) all = concat({all, value_of(i, inputs, block)});
  return all;
}

variable critic_ensemble::first_value(variable obs, variable action,
                                      const parameter_block& block) const {
  return value_of(0, inputs_of(obs, action, block), block);
}

variable critic_ensemble::inputs_of(variable obs, variable action,
                                    const parameter_block& block) const {
  if (!extractor_) return concat({obs, action});
  return concat({features(*extractor_, obs, block, extractor_offset()), action});
}

variable critic_ensemble::value_of(int critic, variable inputs,
                                   const parameter_block& block) const {
  return perceptron(network_, inputs, block, critic * stride_).outputs;
}

}  // namespace troupe::detail
