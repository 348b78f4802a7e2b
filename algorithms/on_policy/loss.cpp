#include "algorithms/on_policy/loss.hpp"

#include <limits>

namespace troupe {

on_policy_loss policy_gradient_loss(const char* name, ppo_loss_options options) {
  options.clip_range = std::numeric_limits<double>::infinity();
  options.clip_range_vf.reset();
  return {
      .name = name,
      .of_tensors = [options](const ppo_loss_inputs& in, double) { return ppo_loss(in, options); },
      .of_rows = [options](const ppo_loss_rows& in, const ppo_loss_derivatives& out,
                           double) { return ppo_loss_with_gradient(in, options, out); }};
}

}  // namespace troupe
