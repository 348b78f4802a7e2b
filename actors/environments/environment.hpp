#pragma once
// The interface that a user implements to add an environment: Gymnasium's contract for one episode.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/checkpoint/state.hpp"
#include "actors/environments/space.hpp"

namespace troupe {

class canvas;

/// One of the tasks of an environment that has several.
struct env_task {
  std::string name;
  double floor = 0;   ///< The return of an agent that can't do the task: relative return 0.
  double target = 1;  ///< The return of an agent that can do it: relative return 1; > `floor`.

  /// Scales an episode's return so that `floor` becomes 0 and `target` becomes 1.
  double relative(double episode_return) const {
    return (episode_return - floor) / (target - floor);
  }
  bool operator==(const env_task&) const = default;
};

/// One agent of an environment with several.
struct agent_spec {
  std::string name;  ///< The name, such as "adversary_0".
  space observation_space;
  space action_space;
  bool operator==(const agent_spec&) const = default;
};

/// How an episode ended with a step.
enum class episode_end : std::uint8_t {
  none,        ///< The episode did not end: it continues, or was lost with its environment.
  terminated,  ///< The task ended.
  truncated    ///< The episode was cut off, for instance by the time limit.
};

/// The outcome of one step for one agent of an environment with several.
struct agent_step {
  double reward = 0;
  episode_end ended = episode_end::none;  ///< How the agent's episode ended with this step.
  bool operator==(const agent_step&) const = default;
};

/// Numbers about an episode beside its return, by name, such as {"keys", 3}: the numbers of the
/// `info` of Gymnasium's last step.
using episode_info = std::map<std::string, double>;

/// The properties of an environment that never change.
struct env_spec {
  std::string id;  ///< The name, such as "CartPole-v1".
  space observation_space = {};
  space action_space = {};
  /// The time limit in steps; nullopt means no limit.
  std::optional<std::int64_t> max_episode_steps = std::nullopt;
  std::optional<double> reward_threshold = std::nullopt;  ///< The mean return of a solved task.
  /// The number of levels: level 0 is the easiest, and the last level is the task itself.
  std::size_t levels = 1;
  std::vector<env_task> tasks = {};  ///< The tasks; empty means a single task.
  /// The number of pictures a second, one a step, in a video of the environment.
  double render_fps = 30;
  /// The agents of an environment with several, which multi_agent_environment.hpp describes; empty
  /// means a single agent.
  std::vector<agent_spec> agents = {};
  /// With agents: the space of the global state, if there is one.
  std::optional<space> state_space = std::nullopt;
  bool agents_vary = false;   ///< With agents: agents come, go, or act in turn.
  bool action_masks = false;  ///< With agents: some of their choices may be forbidden.
  bool operator==(const env_spec&) const = default;
};

/// The action of one environment; its memory is borrowed for the call. The action always lies
/// inside the action space: integers are checked and box actions are clipped to the bounds before
/// an environment sees them.
class action_view {
 public:
  explicit action_view(std::span<const std::int64_t> integers) : integers_(integers) {}
  explicit action_view(std::span<const float> floats) : floats_(floats) {}
  /// An action of both kinds, as those of a tuple can be.
  action_view(std::span<const std::int64_t> integers, std::span<const float> floats)
      : integers_(integers), floats_(floats) {}
  explicit action_view(const std::int64_t& integer) : integers_(&integer, 1) {}
  explicit action_view(std::int64_t&&) = delete;  // would dangle

  /// The action of a discrete space.
  std::int64_t discrete() const {
    if (integers_.empty()) throw_wrong_kind("discrete", "continuous");
    return integers_[0];
  }
  /// The integers [P] of a multi_discrete or multi_binary action, and those of all parts of a tuple
  /// or dict one after another.
  std::span<const std::int64_t> parts() const { return integers_; }
  /// The floats of a tuple or dict, also if there are none.
  std::span<const float> floats() const { return floats_; }
  /// The elements [A] of a box action, and those of all boxes of a tuple or dict one after another.
  std::span<const float> continuous() const {
    if (floats_.empty() && !integers_.empty()) throw_wrong_kind("continuous", "discrete");
    return floats_;
  }

 private:
  /// Throws std::logic_error naming both kinds.
  [[noreturn]] static void throw_wrong_kind(const char* asked, const char* is);

  std::span<const std::int64_t> integers_;
  std::span<const float> floats_;
};

/// The outcome of one step. `terminated` means that the task itself ended, so no reward is to be
/// expected after it. `truncated` means that the episode was cut short. Both may be true.
struct step_result {
  double reward = 0;
  bool terminated = false;
  bool truncated = false;
  /// Set by the step that ends an episode: whether the episode was a success, for a curriculum and
  /// for the column rollout/success_rate. With nullopt an episode counts as a success in a
  /// curriculum if it terminated, as it does where a goal is reached.
  std::optional<bool> success = std::nullopt;
};

/// Thrown by `write_obs` if the sizes differ.
class wrong_shape : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A single environment. It owns its random generator. It does not count steps: its caller, such as
/// vector_env, applies `env_spec::max_episode_steps`.
///
/// `obs` is the flattened observation [D], where D = observation_space.flat_size(). Every call
/// writes all of it. A call that throws, or writes a number that is not finite, ends the episode as
/// a failure; see `env_failure`.
class environment {
 public:
  virtual ~environment() = default;

  /// Returns the same value at every call, for every instance that one factory makes.
  virtual env_spec spec() const = 0;
  /// Starts an episode. A seed restarts the random generator. Without a seed the generator's stream
  /// continues; at the very first reset the operating system seeds it.
  virtual void reset(std::optional<std::uint64_t> seed, std::span<float> obs) = 0;
  /// Takes one step. It is called only between a reset and the end of the episode.
  virtual step_result step(action_view action, std::span<float> obs) = 0;

  /// Sets the level, below env_spec::levels, of the episode that the next reset begins. An
  /// environment with more than one level gets this call before each reset and before a restore.
  /// Does nothing by default.
  virtual void set_level(std::size_t level);
  /// Sets the task, below the number of env_spec::tasks, in the same way.
  virtual void set_task(std::size_t task);

  /// Returns numbers about the episode that the last step has ended. `env.info` chooses those that
  /// become columns of progress.csv and metrics. Returns none by default.
  virtual episode_info info() const;

  /// Sets the options, a JSON object, that each reset gets from now on, as the `options` of
  /// Gymnasium's reset. Throws std::invalid_argument for options that the environment doesn't have;
  /// the default has none.
  virtual void set_options(const std::string& json);
  /// Sets an attribute to a JSON value, as `set_attr` of Stable-Baselines3's VecEnv. Throws
  /// std::invalid_argument for an attribute that can't be set; the default has none.
  virtual void set_attr(const std::string& name, const std::string& json);

  /// Puts the complete state, including the random generator, into `to` for a checkpoint, and
  /// returns true. The default returns false: the environment can't be saved, so a run begins a new
  /// episode after each of its checkpoints, whether it was interrupted there or not.
  virtual bool save(state_writer& to) const;
  /// Continues from a state that `save` of an equal environment has put. Throws state_error.
  virtual void restore(const state_reader& from);

  /// Returns what the last step did to each agent of env_spec::agents. Returns none by default.
  virtual std::span<const agent_step> agent_steps() const;

  /// Draws the current state as a picture on `on`, and returns true. It may be called from the
  /// first reset on, also when the episode has ended. The default returns false: the environment
  /// has no picture. `actors/environments/canvas.hpp` has the functions that draw.
  virtual bool render(canvas& on) const;
};

namespace detail {
/// Throw std::invalid_argument for an environment without options of resets, and without
/// attributes.
[[noreturn]] void refuse_options(const std::string& id, const std::string& json);
[[noreturn]] void refuse_attr(const std::string& id, const std::string& name);
}  // namespace detail

/// Copies `values` into `obs`. Throws wrong_shape, naming both sizes, if they differ.
void write_obs(std::span<const float> values, std::span<float> obs);

}  // namespace troupe
