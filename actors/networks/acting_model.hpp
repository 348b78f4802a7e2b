#pragma once
// A model that acts in an environment: what evaluations and load_policy have in common.

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>

#include "actors/environments/vector_environment.hpp"
#include "actors/networks/acting_network.hpp"
#include "actors/networks/choice_map.hpp"

namespace troupe {

/// The network of a model with what lies between it and an environment: the statistics of
/// observations, action masks, the scale of continuous actions and the numbers of discrete ones.
/// It must not be used by two threads at once.
class acting_model {
 public:
  /// `actions` is the action space of the environment. The initial weights are of no use;
  /// load_parameters replaces them. Throws what make_acting_network throws.
  acting_model(const network_shape& shape, const network_options& options, const space& actions,
               const scripted_policy_maker& script = nullptr);

  /// Copies the weights [P]. Throws c10::Error if they are not those of such a network.
  void load_parameters(const at::Tensor& parameters);

  /// Returns an action for each row of obs [B, D], as the environment takes it. The floats are not
  /// clipped to the bounds of the action space. Throws std::invalid_argument if obs has no whole
  /// rows.
  env_actions act(std::span<const float> obs, action_random& random, bool deterministic);

 private:
  network_shape shape_;
  std::unique_ptr<acting_network> network_;
  choice_map choices_;  // of a single agent
};

}  // namespace troupe
