#pragma once
// The options that GRPO and supervised fine-tuning share.

#include <cstddef>
#include <vector>

#include "actors/llm/model/model_weights.hpp"
#include "actors/trainer/adam.hpp"
#include "actors/trainer/weight_decay.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

/// The options of AdamW, which GRPO and supervised fine-tuning both use. describe_adamw has the
/// meaning of each.
struct language_model_options {
  double max_grad_norm = 1.0;
  double weight_decay = 0.0;
  decayed_parameters weight_decay_of = decayed_parameters::all;
  double beta1 = 0.9, beta2 = 0.999, adam_eps = 1e-8;
  int max_skipped_steps = 10;

  adam_options adam() const {
    return {.beta1 = beta1,
            .beta2 = beta2,
            .eps = adam_eps,
            .max_grad_norm = max_grad_norm,
            .weight_decay = weight_decay};
  }
};

/// The parts of a block of a model's weights, in the order of for_each_weight, that weight decay
/// leaves out. LoRA adapters are matrices, of which it leaves out none.
inline std::vector<parameter_range> undecayed_in(const llm::model_config& config,
                                                 decayed_parameters of) {
  std::vector<parameter_range> ranges;
  if (of == decayed_parameters::all) return ranges;
  std::size_t first = 0;
  llm::model_weights none;
  llm::for_each_weight(config, none, [&](const llm::weight_place& place, at::Tensor&) {
    std::size_t count = 1;
    for (const auto size : place.shape) count *= static_cast<std::size_t>(size);
    add_undecayed(ranges, first, count, place.shape.size());
    first += count;
  });
  return ranges;
}

/// Describes the fields of language_model_options in an Options that derives from it.
template <class Options>
void describe_adamw(options_schema<Options>& s) {
  s.field("max_grad_norm", &Options::max_grad_norm)
      .at_least(0)
      .help(
          "The largest norm of the gradient of all parameters together; a larger gradient is "
          "scaled down to it. 0 means no clipping.");
  describe_weight_decay(s);
  if constexpr (requires { &Options::lora; }) {
    s.option(&Options::weight_decay_of)
        .has_effect_if("trainer.lora.rank is 0, as adapters are all matrices",
                       [](const Options& o) { return o.lora.rank == 0; });
  }
  s.field("beta1", &Options::beta1).at_least(0).below(1).help("AdamW's decay of the first moment.");
  s.field("beta2", &Options::beta2)
      .at_least(0)
      .below(1)
      .help("AdamW's decay of the second moment.");
  s.field("adam_eps", &Options::adam_eps)
      .above(0)
      .help("AdamW's epsilon, which is added to the root of the second moment.");
  s.field("max_skipped_steps", &Options::max_skipped_steps)
      .at_least(1)
      .help(
          "The number of consecutive optimiser steps with non-finite numbers that ends training.");
}

}  // namespace troupe
