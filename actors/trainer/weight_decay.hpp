#pragma once
// Which parameters an optimiser's weight decay shrinks.

#include <cstddef>
#include <vector>

#include "actors/networks/named_tensors.hpp"
#include "actors/trainer/adam.hpp"
#include "runtime/config/options_schema.hpp"

namespace troupe {

/// What weight decay shrinks.
enum class decayed_parameters {
  all,
  matrices,  ///< Not norms, biases and log standard deviations.
};

inline void describe(enum_schema<decayed_parameters>& s) {
  s.name("all", decayed_parameters::all).name("matrices", decayed_parameters::matrices);
}

/// Describes the fields `weight_decay` and `weight_decay_of` of an Options.
template <class Options>
void describe_weight_decay(options_schema<Options>& s) {
  s.field("weight_decay", &Options::weight_decay)
      .at_least(0)
      .help("AdamW's weight decay (Loshchilov and Hutter 2019).");
  s.field("weight_decay_of", &Options::weight_decay_of)
      .has_effect_if("trainer.weight_decay is above 0",
                     [](const Options& o) { return o.weight_decay > 0; })
      .help(
          "What weight_decay shrinks: all is all parameters, as with PyTorch's AdamW; matrices "
          "leaves out norms, biases and log standard deviations, as the Trainer of transformers "
          "does.");
}

/// Adds to `ranges` the next tensor of a block, whose parts are in order, if weight decay of
/// matrices leaves it out: if it has fewer than two dimensions.
void add_undecayed(std::vector<parameter_range>& ranges, std::size_t first, std::size_t count,
                   std::size_t dimensions);

/// The parts of the first `count` parameters of a network that `of` leaves out.
std::vector<parameter_range> undecayed_in(const tensor_layout& layout, std::size_t count,
                                          decayed_parameters of);

}  // namespace troupe
