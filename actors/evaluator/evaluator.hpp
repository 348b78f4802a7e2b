#pragma once
// The evaluation of policies: the role evaluator, which plays whole episodes with given weights.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/environments/hosted_environment.hpp"
#include "actors/networks/acting_model.hpp"
#include "actors/weights/weight_store.hpp"

namespace troupe {

/// Thrown if an evaluation is given up, because its environments fail or because of a stop.
class evaluation_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One episode of an evaluation.
struct evaluated_episode {
  double episode_return = 0;  ///< The undiscounted return.
  double length = 0;          ///< The number of steps.
  std::size_t task = 0;       ///< The index of the task, in an environment with several tasks.
  /// [N] The returns of the agents, in an environment with several.
  std::vector<double> agent_returns = {};
};

/// The result of an evaluation: undiscounted returns of whole episodes with one version of the
/// weights. With several tasks they are relative returns (env_task), because returns of different
/// environments can't be averaged as they are.
struct evaluation {
  std::vector<double> returns;
  double mean = 0;
  /// The standard deviation of the population, as in Stable-Baselines3's evaluate_policy.
  double std = 0;
  double mean_length = 0;
  std::int64_t version = 0;
  std::vector<double> task_means = {};  ///< The mean of the unscaled returns of each task.
  /// [N] The mean return of each agent, if there are several.
  std::vector<double> agent_means = {};
  std::vector<std::string> agent_names = {};  ///< [N]
  /// The shares of joint actions (joint_actions::shares) in the steps of the evaluation.
  std::vector<double> joint_actions = {};
  /// Further columns of progress.csv by name, which an algorithm adds.
  std::map<std::string, double> columns = {};
};

/// Computes the mean and standard deviation of the returns, and the mean length. `tasks` are the
/// tasks of an environment with several, each of which must have been played.
evaluation summarise(const std::vector<evaluated_episode>& episodes, std::int64_t version,
                     const std::vector<env_task>& tasks = {});

/// Returns the return that counts of an episode: with several policies the mean of those of the
/// agents [N] whose policies are scored.
double score_of(const network_shape& shape, std::span<const double> agent_returns,
                double episode_return);

/// Returns the number of episodes rounded up so that each task has the same number of them.
int episodes_of_all_tasks(int episodes, std::size_t tasks);
/// Returns the number of environments that play so many episodes: at most ten, unless there are
/// more tasks, and the same number for each task.
int environments_of_evaluation(int episodes, std::size_t tasks);

struct evaluator_options {
  /// Makes the environments, which are used for evaluation only.
  hosted_environment::factory environments;
  network_shape shape;
  network_options network;
  /// If true, the policy takes the likeliest action; otherwise it samples.
  bool deterministic = true;
  std::string env_options = "{}";  ///< The environment's options, for scripted policies.
};

/// Sees the environments of an evaluation as they are played. `after` is null after the reset, and
/// the result of a step after each step.
using evaluation_watcher =
    std::function<void(vector_environment& environments, const env_step* after)>;

/// The role that measures the quality of weights, on environments of its own.
class evaluator {
 public:
  /// The number of steps without the end of an episode after which an evaluation is given up.
  static constexpr std::int64_t patience = 200'000;

  /// `stop_asked` is called before each step, and ends the evaluation by returning true. `watcher`
  /// is called as described above. Both may be null. Throws std::invalid_argument if a network of
  /// `shape` does not fit the environments.
  explicit evaluator(evaluator_options options, std::function<bool()> stop_asked = nullptr,
                     evaluation_watcher watcher = nullptr);

  /// Plays `episodes` > 0 episodes, split evenly over the environments, so that short episodes
  /// don't count more. With several tasks the number is rounded up by episodes_of_all_tasks. The
  /// same weights and `seed` give the same returns. An episode whose environment fails is repeated.
  /// Throws evaluation_error after ten failures per episode, after `patience` steps without the end
  /// of an episode, and for a stop.
  evaluation evaluate(weights of, std::size_t episodes, std::uint64_t seed);

 private:
  evaluator_options options_;
  std::function<bool()> stop_asked_;
  evaluation_watcher watcher_;
  std::unique_ptr<vector_environment> environments_;
  std::unique_ptr<acting_model> model_;
};

}  // namespace troupe
