#include "actors/torch/torch.hpp"

#include "actors/llm/training/tuned_model.hpp"

namespace troupe::llm {
namespace {

// The weights `base` without gradients.
trained_weights frozen(const model_config& config, const at::Tensor& base) {
  return {base, {}, weights_in(config, base)};
}

}  // namespace

tuned_model::tuned_model(model_config config, at::Tensor weights)
    : config_(std::move(config)), model_(train_weights(config_, std::move(weights))) {}

tuned_model::tuned_model(model_config config, at::Tensor base, lora_options options,
                         at::Tensor first)
    : config_(std::move(config)),
      model_(frozen(config_, base)),
      adapted_(adapted{options, train_adapters(config_, options, std::move(first))}) {}

const at::Tensor& tuned_model::trained() const {
  return adapted_ ? adapted_->adapters.parameters : model_.parameters;
}

const at::Tensor& tuned_model::gradient() const {
  return adapted_ ? adapted_->adapters.gradient : model_.gradient;
}

const adapter_weights* tuned_model::adapters() const {
  return adapted_ ? &adapted_->adapters.weights : nullptr;
}

at::Tensor tuned_model::merged() const {
  if (!adapted_) return model_.parameters.clone();
  return merge_adapters(config_, adapted_->options, model_.parameters,
                        adapted_->adapters.parameters);
}

}  // namespace troupe::llm
