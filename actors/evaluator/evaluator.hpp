#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "actors/environments/hosted_environment.hpp"
#include "actors/networks/acting_network.hpp"
#include "actors/weights/weight_store.hpp"

namespace troupe {

/// An evaluation that had to be given up, for its environments or for a stop.
class evaluation_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An episode that an evaluation played.
struct evaluated_episode {
  double episode_return = 0;  ///< Undiscounted.
  double length = 0;          ///< Steps.
  std::size_t task = 0;       ///< Of an environment with several.
};

/// Undiscounted returns of whole episodes by one version of the weights. Of several tasks they are
/// relative returns (env_task): those of different environments can't be added as they are.
struct evaluation {
  std::vector<double> returns;
  double mean = 0;
  double std = 0;  ///< Of the population, as Stable-Baselines3's evaluate_policy.
  double mean_length = 0;
  std::int64_t version = 0;
  std::vector<double> task_means = {};  ///< The mean of each task's returns as they are.
};

/// Mean and standard deviation of the returns, and the mean length. `tasks`: the environment's, if
/// it has several, each of which has been played.
evaluation summarise(const std::vector<evaluated_episode>& episodes, std::int64_t version,
                     const std::vector<env_task>& tasks = {});

/// So many episodes, and more until each task has the same number of them.
int episodes_of_all_tasks(int episodes, std::size_t tasks);
/// Environments that are to play so many episodes: at most ten, unless there are more tasks, and as
/// many of each task.
int environments_of_evaluation(int episodes, std::size_t tasks);

struct evaluator_options {
  hosted_environment::factory environments;  ///< For evaluation alone.
  network_shape shape;
  network_options network;
  bool deterministic = true;  ///< Takes the likeliest action.
};

/// The role that measures how good weights are, on environments of its own.
class evaluator {
 public:
  /// Steps without the end of an episode, after which an evaluation is given up.
  static constexpr std::int64_t patience = 200'000;

  /// `stop_asked`: asked before each step; true ends the evaluation. May be null. Throws
  /// std::invalid_argument if a network of `shape` does not fit the environments.
  explicit evaluator(evaluator_options options, std::function<bool()> stop_asked = nullptr);

  /// `episodes` > 0 episodes, split evenly over the environments, so that short ones don't weigh
  /// more; of several tasks as many more as episodes_of_all_tasks says. `seed` decides the
  /// episodes: the same weights and seed give the same returns. An episode whose environment fails
  /// is played anew; throws evaluation_error after ten failures an episode, where none ends, and
  /// for a stop.
  evaluation evaluate(weights of, std::size_t episodes, std::uint64_t seed);

 private:
  /// An action for each row of `obs`.
  env_actions act(std::span<const float> obs, action_random& random);

  evaluator_options options_;
  std::function<bool()> stop_asked_;
  std::unique_ptr<vector_environment> environments_;
  std::unique_ptr<acting_network> network_;
};

}  // namespace troupe
