#include "algorithms/on_policy/loss.hpp"

#include <limits>

namespace troupe {

on_policy_loss policy_gradient_loss(const char* name, const on_policy_options& of) {
  const ppo_loss_options options{.clip_range = std::numeric_limits<double>::infinity(),
                                 .ent_coef = of.ent_coef,
                                 .vf_coef = of.baseline ? of.vf_coef : 0.0,
                                 .importance_cap = of.importance_cap};
  return {.name = name, .function = [options](const ppo_loss_inputs& in, double) {
            return ppo_loss(in, options);
          }};
}

}  // namespace troupe
