#pragma once
// The role that steps B environments by one message, and the messages that it receives and returns.
// In the shapes, B is the number of environments, D the number of floats in a flattened
// observation, A the number of floats in an action, and P the number of its integers.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "actors/environments/environment.hpp"
#include "runtime/base/recycled_vector.hpp"
#include "runtime/coroutine/sleep.hpp"

namespace troupe {

/// One action for each environment, row-major. Only the members that the action space needs are
/// filled. action_numbers.hpp says which numbers an action has, and in which order.
struct env_actions {
  recycled_vector<std::int64_t> discrete = {};  ///< [B, P]; P is 1 for a discrete action.
  recycled_vector<float> continuous = {};       ///< [B, A]; clipped to the box's bounds before use.
};

/// The way in which an environment broke its contract.
enum class env_failure_reason {
  threw,      ///< It threw an exception.
  nonfinite,  ///< Its observation or its reward was NaN or infinite.
  shape,      ///< It wrote fewer or more floats than its observation space has.
  lost,       ///< The process in which it lived has ended.
};
std::string_view to_string(env_failure_reason reason);

/// A report that an environment broke its contract. The episode under way is dropped and a new one
/// begins in the same environment. If a reset of that environment fails, a newly made environment
/// takes its place; if the resets of three newly made ones fail too, environment_lost is thrown.
struct env_failure {
  std::size_t index = 0;  ///< The environment's index in 0 .. B - 1.
  std::string id;         ///< The environment's name, such as "CartPole-v1".
  env_failure_reason reason = env_failure_reason::threw;
  std::string message;  ///< The expected and the actual result, or the exception's message.
  /// True if a reset failed. Such an entry alone leaves the row of the step a transition.
  bool at_reset = false;
};

/// An episode that terminated or was truncated in this step.
struct finished_episode {
  std::size_t index = 0;             ///< The environment's index in 0 .. B - 1.
  double episode_return = 0;         ///< The undiscounted sum of its rewards.
  std::int64_t length = 0;           ///< The number of its steps.
  recycled_vector<float> final_obs;  ///< [D] The observation after the last step.
  std::size_t level = 0;             ///< The level at which it began, from 0.
  std::size_t task = 0;              ///< The index of its task in env_spec::tasks, from 0.
  bool success = false;              ///< See step_result::success.
  /// The numbers of environment::info. "is_success" is among them if the environment said whether
  /// the episode was a success.
  episode_info info = {};
  /// [N] The undiscounted sum of each agent's rewards; empty for a single agent.
  std::vector<double> agent_returns = {};
};

/// The outcome of an episode, for the curriculum or the scheduler that chooses levels and tasks.
struct graded_episode {
  std::size_t level = 0;      ///< The level at which it began, from 0.
  bool success = false;       ///< See step_result::success.
  std::size_t task = 0;       ///< The index of its task in env_spec::tasks, from 0.
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
/// the same step, as in Stable-Baselines3), and its last observation is in `finished`. If
/// `failures` has an entry with `at_reset` false for environment i, row i is not a transition: its
/// reward and both flags are 0, and its `obs` is the first observation of another episode. The
/// caller must discard the steps that it has gathered of the failed episode.
struct env_step {
  recycled_vector<float> obs = {};                ///< [B, D]
  recycled_vector<double> reward = {};            ///< [B]
  recycled_vector<std::uint8_t> terminated = {};  ///< [B] 1 if a terminal state was reached.
  /// [B] 1 if the episode was cut short, by the environment or by the time limit. `terminated` and
  /// `truncated` may both be 1.
  recycled_vector<std::uint8_t> truncated = {};
  /// [B] The running discounted sum of each environment's rewards (see discounted_returns), or
  /// empty if rewards are not normalised.
  recycled_vector<double> discounted = {};
  /// [B, N] The rewards of the agents of env_spec::agents; empty for a single agent. `reward` has
  /// their mean.
  recycled_vector<double> agent_reward = {};
  /// [B, N] An episode_end: how the episode of each agent ended with this step; empty for a single
  /// agent. It is `none` if the agent's episode goes on, has ended before or has not begun.
  recycled_vector<std::uint8_t> agent_ended = {};
  recycled_vector<finished_episode> finished = {};  ///< The episodes that ended in this step.
  std::vector<env_failure> failures = {};           ///< The failures of this step and its resets.
  /// Why the process in which the environments live is replaced by another one from this step on:
  /// "episodes" or "memory", as python_options says. No episode is lost with it.
  std::optional<std::string> process_replaced = {};
};

/// Thrown for too few or too many numbers, for a discrete action outside of the action space, and
/// for a box action that is NaN or infinite. A finite box action is clipped instead. No environment
/// was stepped.
class wrong_actions : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Thrown when neither an environment nor newly made ones in its place could begin an episode. Call
/// `reset` before the next step.
class environment_lost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown when the process in which all of the environments live has ended, or was ended because it
/// didn't answer in time. All episodes under way are lost. A `reset` starts another process.
class environment_process_lost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How much longer than service_options::max_call_time calls may take, >= 0.
struct call_allowances {
  duration step{};
  duration reset{};
  /// The program's note_progress, because a plug-in has no link to it; null if both are equal.
  void (*note_progress)(duration allowance) = nullptr;
};

/// The interface of a vector environment: a role whose endpoints are these member functions, except
/// `step_into`, which writes to an argument.
class vector_environment {
 public:
  virtual ~vector_environment() = default;

  /// Returns B, the number of environments.
  virtual std::size_t size() = 0;
  /// Returns the id, the spaces, the levels and the tasks.
  virtual env_spec spec() = 0;
  /// Sets the id in `spec()`, in env_failure::id and in error messages. The registry calls it with
  /// the name under which the environment was registered. The default does nothing.
  virtual void rename(const std::string& id);
  /// Begins B episodes. Episodes under way are dropped and not reported. Environment i is seeded
  /// with seed + i. Without a seed each random generator continues; at the first reset the
  /// operating system seeds it. Throws environment_lost.
  virtual env_reset reset(std::optional<std::uint64_t> seed) = 0;
  /// Takes one step of each environment. Throws wrong_actions, environment_lost, and
  /// std::logic_error (not wrong_actions, which derives from it) before the first reset.
  virtual env_step step(env_actions actions) = 0;
  /// Takes one step like `step`, with the same errors, but overwrites `out` and can reuse its
  /// memory. It may clip box actions in place. vector_env allocates only for ended episodes and
  /// failures. The default calls `step`, which allocates.
  virtual void step_into(env_actions& actions, env_step& out) { out = step(actions); }

  /// Sets the level of all episodes that begin from now on: 0 .. env_spec::levels - 1. Without a
  /// call it is the last level, which has the full difficulty. Throws std::invalid_argument if
  /// there is no such level. The default does nothing.
  virtual void set_level(std::size_t level);
  /// Sets the tasks, as indices into env_spec::tasks, of the episodes that begin from now on. Each
  /// episode that begins, in any of the environments, plays the next task of the list; after the
  /// last one the list starts again. Without a call environment i always plays task i modulo the
  /// number of tasks. Throws std::invalid_argument for an empty list and for a task that doesn't
  /// exist. The default does nothing.
  virtual void set_turns(std::vector<std::size_t> turns);

  /// Sets how much longer than service_options::max_call_time a step and a reset of all
  /// environments may take in a role. A reset that a step makes has its own time. The default does
  /// nothing.
  virtual void set_allowances(const call_allowances& of);

  /// Draws environment i as it is now, like environment::render. The default returns false.
  virtual bool render(std::size_t i, canvas& on);
  /// Sets the canvas on which the last picture of every episode is drawn from now on. The step that
  /// ends an episode begins the next one, so that `render` can't show it any more. The canvas is
  /// borrowed; nullptr draws none. The default does nothing.
  virtual void set_final_canvas(canvas* on);

  /// Sets the options of all resets from now on; see environment::set_options. The default throws
  /// std::invalid_argument unless `json` is "{}".
  virtual void set_options(const std::string& json);
  /// Sets an attribute of all environments; see environment::set_attr. The default throws
  /// std::invalid_argument.
  virtual void set_attr(const std::string& name, const std::string& json);

  /// Returns the complete state for a checkpoint, or nullopt if the state can't be saved. The
  /// default returns nullopt.
  virtual std::optional<std::string> save();
  /// Continues from a state that `save` returned on a vector environment of the same type, size,
  /// levels and tasks. Throws state_error if the state doesn't fit. The default always throws it.
  virtual void restore(const std::string& bytes);
};

}  // namespace troupe
