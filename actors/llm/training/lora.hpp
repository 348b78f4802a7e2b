#pragma once
// Low-rank adaptation (LoRA): Hu et al. 2021, arXiv:2106.09685. The model's own weights stay as
// they are, and a product of two small matrices is trained beside each chosen linear layer W
// [outputs, inputs].

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "actors/llm/model/adapters.hpp"
#include "actors/llm/model/model_config.hpp"

namespace troupe::llm {

struct lora_options {
  std::vector<projection> targets{projection::q,    projection::k,  projection::v,   projection::o,
                                  projection::gate, projection::up, projection::down};
  std::int64_t rank = 8;
  double alpha = 16.0;  ///< the product is multiplied by alpha / rank
};

/// The number A of floats of all adapters together. A block [A] has one layer after the other, in
/// each the targets in the order of `projection`, and of each a before b. Throws
/// std::invalid_argument for no targets or one twice, a rank below 1 and an alpha that isn't above
/// 0.
std::int64_t adapter_count(const model_config& config, const lora_options& options);

/// The adapters as views of `flat` [A]. Throws std::invalid_argument if `flat` is no such block.
adapter_weights adapters_in(const model_config& config, const lora_options& options,
                            const at::Tensor& flat);

/// A new block [A] of first adapters: a is uniform within 1 / sqrt(inputs), and b is 0, so that
/// they don't change the model. They depend only on the shapes and the seed.
at::Tensor initial_adapters(const model_config& config, const lora_options& options,
                            std::uint64_t seed);

/// Adapters that are trained, like trained_weights.
struct trained_adapters {
  at::Tensor parameters;    ///< float [A]
  at::Tensor gradient;      ///< float [A]: backward() adds to it
  adapter_weights weights;  ///< views of `parameters` whose gradients are views of `gradient`
};
trained_adapters train_adapters(const model_config& config, const lora_options& options,
                                at::Tensor parameters);

/// A new block of the model's weights [P] with the adapters merged, for generators.
at::Tensor merge_adapters(const model_config& config, const lora_options& options,
                          const at::Tensor& weights, const at::Tensor& adapters);

}  // namespace troupe::llm
