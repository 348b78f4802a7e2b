#pragma once
// A model in training: either all its weights are trained, or LoRA adapters beside weights that
// stay as they are. The learners of language models use it.

#include <ATen/core/Tensor.h>

#include <optional>

#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/training/lora.hpp"

namespace troupe::llm {

/// A model of P weights whose trained block has P floats, or A floats with adapters. Only one
/// thread at a time may use it.
class tuned_model {
 public:
  /// Trains all weights. Takes over `weights` [P] without a copy. Throws like weights_in.
  tuned_model(model_config config, at::Tensor weights);
  /// Trains adapters and never writes to the weights `base` [P]. `first` [A] are the first
  /// adapters, which it takes over without a copy. Throws like adapters_in.
  tuned_model(model_config config, at::Tensor base, lora_options options, at::Tensor first);

  const model_config& config() const { return config_; }

  /// The block that is trained: the weights [P], or the adapters [A].
  const at::Tensor& trained() const;
  /// The gradient of the trained block: backward() adds to it, and the owner sets it to 0.
  const at::Tensor& gradient() const;

  /// The model's weights. With adapters they are the base and have no gradients.
  const model_weights& weights() const { return model_.weights; }
  /// The adapters beside them for forward_options; null without adapters.
  const adapter_weights* adapters() const;
  /// The block [P] of `weights`.
  const at::Tensor& base() const { return model_.parameters; }
  /// A copy of the model's weights [P] as they are now, with the adapters merged.
  at::Tensor merged() const;

 private:
  struct adapted {
    lora_options options;
    trained_adapters adapters;
  };

  model_config config_;
  trained_weights model_;  // without gradients if there are adapters
  std::optional<adapted> adapted_;
};

}  // namespace troupe::llm
