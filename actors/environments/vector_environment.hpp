#pragma once
// The role that steps B environments by one message, and the messages it takes and gives. In the
// shapes, B is the number of environments, D the number of floats in a flattened observation and A
// the number of floats in a box action.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "actors/environments/environment.hpp"
#include "runtime/base/recycled_vector.hpp"

namespace troupe {

/// One action for each environment, row-major. Only the member that the action space needs is
/// filled.
struct env_actions {
  recycled_vector<std::int64_t> discrete;  ///< [B]; [B, parts] for multi_discrete, multi_binary.
  recycled_vector<float> continuous;       ///< [B, A]; clipped to the box's bounds before use.
};

/// The way in which an environment broke its contract.
enum class env_failure_reason {
  threw,      ///< It threw an exception.
  nonfinite,  ///< Its observation or its reward was NaN or infinite.
  shape,      ///< It wrote fewer or more floats than its observation space has.
};
std::string_view to_string(env_failure_reason reason);

/// A report that an environment broke its contract. The episode under way is dropped and a new one
/// begins in the same environment, or in a newly made one if the reset fails too.
struct env_failure {
  std::size_t index = 0;  ///< The environment's index in 0 .. B - 1.
  std::string id;         ///< The environment's name, such as "CartPole-v1".
  env_failure_reason reason = env_failure_reason::threw;
  std::string message;    ///< The expected and the actual value, or the exception's message.
  bool at_reset = false;  ///< The failure was in a reset, so no step was lost.
};

/// An episode that ended in the last step.
struct finished_episode {
  std::size_t index = 0;             ///< The environment's index in 0 .. B - 1.
  double episode_return = 0;         ///< The undiscounted sum of its rewards.
  std::int64_t length = 0;           ///< The number of its steps.
  recycled_vector<float> final_obs;  ///< [D] The observation after the last step.
  std::size_t level = 0;             ///< The level at which it began.
  std::size_t task = 0;              ///< The index of its task.
  bool success = false;              ///< See step_result::success.
};

/// The outcome of an episode, for the curriculum or the scheduler that chooses levels and tasks.
struct graded_episode {
  std::size_t level = 0;  ///< The level at which it began.
  bool success = false;
  std::size_t task = 0;
  double episode_return = 0;  ///< The undiscounted sum of its rewards.
  bool operator==(const graded_episode&) const = default;
};

/// The result of resetting all environments.
struct env_reset {
  recycled_vector<float> obs;         ///< [B, D]
  std::vector<env_failure> failures;  ///< The resets that failed and were repeated.
};

/// The result of one step of all environments. It never contains NaN or an infinity.
///
/// If an episode ended, its row of `obs` is the first observation of the next episode (autoreset in
/// the same step, as in Stable-Baselines3), and its last observation is in `finished`. A row with
/// an entry in `failures` whose `at_reset` is false is no transition: its reward and both flags are
/// 0, `obs` begins another episode, and the caller drops what it gathered of the episode before.
struct env_step {
  recycled_vector<float> obs;                ///< [B, D]
  recycled_vector<double> reward;            ///< [B]
  recycled_vector<std::uint8_t> terminated;  ///< [B] Whether the task ended.
  recycled_vector<std::uint8_t> truncated;   ///< [B] Whether the episode was cut short.
  recycled_vector<double> discounted;        ///< [B] The sums of discounted_returns, or empty.
  recycled_vector<finished_episode> finished;
  std::vector<env_failure> failures;
};

/// Thrown for actions that do not fit: too few or too many, outside of the action space, or not
/// finite. No environment was stepped.
class wrong_actions : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Thrown when neither an environment nor newly made ones in its place could begin an episode.
class environment_lost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The interface of a vector environment: a role whose member functions are its endpoints.
class vector_environment {
 public:
  virtual ~vector_environment() = default;

  /// Returns B, the number of environments.
  virtual std::size_t size() = 0;
  virtual env_spec spec() = 0;
  /// Sets the id that the spec and the messages have. The registry passes the id of the
  /// registration.
  virtual void rename(const std::string& id);
  /// Begins B episodes. Environment i is seeded with seed + i. Without a seed each random generator
  /// continues. Throws environment_lost.
  virtual env_reset reset(std::optional<std::uint64_t> seed) = 0;
  /// Takes one step of each environment. Throws wrong_actions, environment_lost, and
  /// std::logic_error before the first reset.
  virtual env_step step(env_actions actions) = 0;
  /// Takes one step of each environment without allocating: it overwrites `out` and reuses its
  /// memory from the step before. Box actions are clipped in place. Only ended episodes and
  /// failures allocate.
  virtual void step_into(env_actions& actions, env_step& out) { out = step(actions); }

  /// Sets the level of all episodes that begin from now on. By default it is the last level, the
  /// task itself. Throws std::invalid_argument if there is no such level.
  virtual void set_level(std::size_t level);
  /// Sets the tasks of the episodes that begin from now on: the list is used in order and repeated.
  /// By default environment i always plays task i modulo the number of tasks. Throws
  /// std::invalid_argument for an empty list and for a task that doesn't exist.
  virtual void set_turns(std::vector<std::size_t> turns);

  /// Returns the complete state for a checkpoint, or nullopt, the default, if it can't be saved.
  virtual std::optional<std::string> save();
  /// Continues from the state that `save` of an equal vector environment returned. Throws
  /// state_error.
  virtual void restore(const std::string& bytes);
};

}  // namespace troupe
