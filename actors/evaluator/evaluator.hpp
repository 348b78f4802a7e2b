#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "actors/env/hosted_environment.hpp"
#include "actors/policy/actor_critic.hpp"
#include "actors/weights/weight_store.hpp"

namespace troupe {

/// Undiscounted returns of whole episodes by one version of the weights.
struct evaluation {
  std::vector<double> returns;
  double mean = 0;
  double std = 0;  ///< Of the population, as Stable-Baselines3's evaluate_policy.
  std::int64_t version = 0;
};

/// Mean and standard deviation of `returns`.
evaluation summarise(std::vector<double> returns, std::int64_t version);

struct evaluator_options {
  hosted_environment::factory environments;  ///< For evaluation alone.
  network_shape shape;
  network_options network;
  std::uint64_t seed = 0;
  bool deterministic = true;  ///< Takes the likeliest action.
};

/// The role that measures how good weights are, on environments of its own.
class evaluator {
 public:
  explicit evaluator(evaluator_options options);

  /// At least `episodes` > 0 episodes, split evenly over the environments, so that short ones don't
  /// weigh more. Every evaluation starts from the same seed. Throws std::runtime_error if
  /// environments fail.
  evaluation evaluate(weights of, std::size_t episodes);

 private:
  evaluator_options options_;
  std::unique_ptr<vector_environment> environments_;
  actor_critic network_;
};

}  // namespace troupe
