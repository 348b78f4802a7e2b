#pragma once

#include <filesystem>
#include <optional>

#include "actors/environments/hosted_environment.hpp"
#include "actors/evaluator/evaluator.hpp"
#include "algorithms/run/training_run.hpp"

namespace troupe {

/// What every algorithm that learns on an environment has: what the environment is, an evaluator
/// that plays on environments of its own, and models with the environment's shape. Algorithms are
/// derived from it (algorithm.hpp).
class environment_algorithm {
 public:
  /// Throws unknown_environment.
  explicit environment_algorithm(training_run& in);

  /// Each evaluation has a seed of its own, so there is nothing to restore.
  task<> serve_evaluator();
  /// How good these weights are. `seed` decides the episodes.
  task<evaluation> evaluate(weights of, std::size_t episodes, std::uint64_t seed);
  /// Writes a model with the score that it is kept for, if any. Throws where the disk is full or
  /// gone.
  void write_model(const std::filesystem::path& path, const weights& of,
                   std::optional<double> score) const;
  /// The score of the model at `path`, if it has one. Throws where it can't be read.
  std::optional<double> kept_score(const std::filesystem::path& path) const;
  /// The mean return at which the environment counts as solved, if it has one.
  std::optional<double> threshold() const { return spec.reward_threshold; }

  training_run& in;
  const env_spec spec;
  const network_shape shape;
  service<evaluator> evaluations;

 protected:
  /// For evaluations of so many episodes.
  evaluator_options evaluator_of(int episodes) const;
};

/// What these environments do, as metrics; some of their failures are logged.
env_observers observers_of(const training_metrics& metrics, const std::string& id);

/// Where environments of evaluations run: on a thread of their own where training's have one, as
/// theirs may block, else on the pool.
placement place_of_evaluation(const env_section& env);

}  // namespace troupe
