#pragma once
// The environment role: B environments stepped by one message. B and D: environments and floats of
// a flattened observation; A: floats of a box action.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "actors/environments/environment.hpp"
#include "runtime/base/recycled_vector.hpp"

namespace troupe {

/// One action for each environment, row-major; only the part that the action space needs is filled.
struct env_actions {
  recycled_vector<std::int64_t> discrete;  ///< [B]; [B, parts] for multi_discrete and multi_binary.
  recycled_vector<float> continuous;       ///< [B, A]; clipped to the box before it is applied.
};

enum class env_failure_reason {
  threw,      ///< It threw an exception.
  nonfinite,  ///< Its observation or its reward was NaN or infinite.
  shape,      ///< It wrote fewer or more floats than its observation space has.
};
std::string_view to_string(env_failure_reason reason);

/// An environment broke its contract: the episode under way is dropped and a new one begun, in the
/// same environment, or in a newly made one if its reset failed too.
struct env_failure {
  std::size_t index = 0;  ///< Which of the B.
  std::string id;         ///< The environment's name, such as "CartPole-v1".
  env_failure_reason reason = env_failure_reason::threw;
  std::string message;    ///< What was seen and what was expected.
  bool at_reset = false;  ///< It failed while beginning an episode: no step of it was lost.
};

struct finished_episode {
  std::size_t index = 0;             ///< Which of the B.
  double episode_return = 0;         ///< Undiscounted sum of rewards.
  std::int64_t length = 0;           ///< Steps.
  recycled_vector<float> final_obs;  ///< [D] what the last step showed.
  std::size_t level = 0;             ///< At which it began.
  std::size_t task = 0;              ///< Which it was of.
  bool success = false;              ///< See step_result::success.
};

/// How an episode went, for who chooses what is practised next.
struct graded_episode {
  std::size_t level = 0;  ///< At which it began.
  bool success = false;
  std::size_t task = 0;
  double episode_return = 0;  ///< Undiscounted.
  bool operator==(const graded_episode&) const = default;
};

struct env_reset {
  recycled_vector<float> obs;         ///< [B, D]
  std::vector<env_failure> failures;  ///< Resets that had to be repeated.
};

/// What one step of all environments gave. Nothing in it is ever NaN or infinite.
///
/// A row whose episode ended has the next episode's first observation in `obs` (autoreset in the
/// same step, as Stable-Baselines3) and its own last one in `finished`. A row in `failures` whose
/// `at_reset` is false is no transition: its reward and both flags are 0, `obs` begins another
/// episode, and what was gathered of the episode before is to be dropped.
struct env_step {
  recycled_vector<float> obs;                ///< [B, D]
  recycled_vector<double> reward;            ///< [B]
  recycled_vector<std::uint8_t> terminated;  ///< [B] The task ended.
  recycled_vector<std::uint8_t>
      truncated;                       ///< [B] The episode was cut, by the time limit or itself.
  recycled_vector<double> discounted;  ///< [B] discounted_returns::sums, or empty.
  recycled_vector<finished_episode> finished;
  std::vector<env_failure> failures;
};

/// The caller's actions do not fit: too few or many, outside of the action space, or not finite. No
/// environment was stepped.
class wrong_actions : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// An environment could not be brought to begin an episode, not even newly made ones.
class environment_lost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The role that is replicated. Its member functions are endpoints.
class vector_environment {
 public:
  virtual ~vector_environment() = default;

  /// B.
  virtual std::size_t size() = 0;
  virtual env_spec spec() = 0;
  /// Told the name that it is registered by, which its spec and its messages then say.
  virtual void rename(const std::string& id);
  /// Begins B episodes. Environment i is seeded with seed + i; without a seed each generator goes
  /// on. Throws environment_lost.
  virtual env_reset reset(std::optional<std::uint64_t> seed) = 0;
  /// Throws wrong_actions, environment_lost, and std::logic_error before the first reset.
  virtual env_step step(env_actions actions) = 0;
  /// The same without allocating: `out` is overwritten, in the memory it has from the step before.
  /// Box actions are clipped in place. Only ended episodes, and failures, need memory.
  virtual void step_into(env_actions& actions, env_step& out) { out = step(actions); }

  /// The level of all episodes that begin from now on. Environments that nobody tells are at their
  /// last level, the task itself. Throws std::invalid_argument if there is no such level.
  virtual void set_level(std::size_t level);
  /// The tasks of the episodes that begin from now on, in this order, and over again. Where nobody
  /// tells, environment i plays task i modulo their number, always. Throws std::invalid_argument
  /// for none, and if there is no such task.
  virtual void set_turns(std::vector<std::size_t> turns);

  /// Everything that what comes hangs on; none, the default, if it can't be saved.
  virtual std::optional<std::string> save();
  /// Goes on from what `save` of an equal one has given. Throws state_error.
  virtual void restore(const std::string& bytes);
};

}  // namespace troupe
