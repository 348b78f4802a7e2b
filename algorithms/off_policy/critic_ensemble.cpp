#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/critic_ensemble.hpp"

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
    : count_(count),
      extractor_(make_extractor(shape, options)),
      network_((extractor_ ? extractor_->features() : shape.obs_size) + shape.continuous_size,
               options.hidden, 1, options.hidden_activation),
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
  return values(obs, action, block, count_);
}

variable critic_ensemble::values(variable obs, variable action, const parameter_block& block,
                                 int among) const {
  auto features = obs;
  if (extractor_) {
    features = obs.owner().features(obs, block, extractor_offset(), *extractor_);
  }
  const auto x = concat({features, action});
  critic_values_.clear();
  for (int i = 0; i < among; ++i) {
    critic_values_.push_back(perceptron(network_, x, block, i * stride_).outputs);
  }
  return concat(critic_values_);
}

}  // namespace troupe::detail
