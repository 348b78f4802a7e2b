#pragma once
// Low-rank adaptation: Hu et al. 2021, arXiv:2106.09685. The model's own weights stay as they are;
// beside each chosen linear layer W [outputs, inputs] a product of two small matrices is trained.

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
  double alpha = 16.0;  ///< the product counts alpha / rank times
};

/// Floats of all adapters together, A. Their block [A] has layer after layer, and in each the
/// targets in projection's order, a before b. Throws std::invalid_argument for no targets or one
/// twice, a rank below 1 and an alpha that isn't above 0.
std::int64_t adapter_count(const model_config& config, const lora_options& options);

/// The adapters as views of `flat` [A]. Throws std::invalid_argument for what is no such block.
adapter_weights adapters_in(const model_config& config, const lora_options& options,
                            const at::Tensor& flat);

/// A new block [A]: a uniform within 1 / sqrt(inputs), b 0, so that the model is as it was. By this
/// seed alone.
at::Tensor initial_adapters(const model_config& config, const lora_options& options,
                            std::uint64_t seed);

/// Adapters that are trained, as trained_weights are.
struct trained_adapters {
  at::Tensor parameters;    ///< float [A]
  at::Tensor gradient;      ///< float [A]: backward() adds to it
  adapter_weights weights;  ///< views of `parameters` whose gradients are views of `gradient`
};
trained_adapters train_adapters(const model_config& config, const lora_options& options,
                                at::Tensor parameters);

/// The model's weights [P] with the adapters in them, in a new block: what a generator is given.
at::Tensor merge_adapters(const model_config& config, const lora_options& options,
                          const at::Tensor& weights, const at::Tensor& adapters);

}  // namespace troupe::llm
