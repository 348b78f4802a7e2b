#pragma once
// The parts that algorithms on environments have in common: specification, evaluator, model files.

#include <filesystem>
#include <optional>

#include "actors/environments/hosted_environment.hpp"
#include "actors/environments/metrics_observers.hpp"
#include "actors/evaluator/evaluator.hpp"
#include "actors/networks/named_tensors.hpp"
#include "algorithms/run/agents_view.hpp"
#include "algorithms/run/training_run.hpp"

namespace troupe {

/// The base class of algorithms that learn on an environment (algorithm.hpp). It has the
/// environment's specification, an evaluator that plays on environments of its own, and the writing
/// and reading of model files.
class environment_algorithm {
 public:
  /// Throws unknown_environment.
  explicit environment_algorithm(training_run& in);

  /// Serves the evaluator. It has no state to restore, because each evaluation has its own seed.
  task<> serve_evaluator();
  /// Plays so many episodes with these weights. `seed` decides the episodes.
  task<evaluation> evaluate(weights of, std::size_t episodes, std::uint64_t seed);
  /// Plays the episodes of the evaluation at the end, on an evaluator of their own.
  task<evaluation> evaluate_finally(weights of);
  /// Writes a model file, with its score if it has one, and the tensors that don't act. Throws if
  /// the disk is full or gone.
  void write_model(const std::filesystem::path& path, const weights& of,
                   std::optional<double> score, named_tensors beside = {}) const;
  /// Returns the score of the model at `path`, if it has one. Throws if the file can't be read.
  std::optional<double> kept_score(const std::filesystem::path& path) const;
  /// The mean return at which the environment counts as solved, if it has one.
  std::optional<double> threshold() const { return spec.reward_threshold; }

  training_run& in;
  const env_spec spec;
  const network_shape shape;
  service<evaluator> evaluations;

 protected:
  /// Shows the values of columns about several agents on the status page.
  void show_agents(const std::map<std::string, double>& values);
  /// The options of an evaluator for evaluations of so many episodes.
  evaluator_options evaluator_of(int episodes) const;

 private:
  /// Adds the columns of several agents to an evaluation, and shows them.
  evaluation with_agents(evaluation seen);

  agents_view agents_view_;
};

/// The placement of the environments of evaluations: a thread of their own if training's have one,
/// because such environments may block; otherwise the pool.
placement place_of_evaluation(const env_section& env);

}  // namespace troupe
