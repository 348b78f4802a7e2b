#pragma once
// What a user writes to bring an environment of their own: Gymnasium's contract for one episode.

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/checkpoint/state.hpp"
#include "actors/environments/space.hpp"

namespace troupe {

/// One of several tasks of an environment.
struct env_task {
  std::string name;
  double floor = 0;   ///< Return of somebody who can do nothing: relative return 0.
  double target = 1;  ///< Return of somebody who can do it: relative return 1. Above `floor`.

  double relative(double episode_return) const {
    return (episode_return - floor) / (target - floor);
  }
  bool operator==(const env_task&) const = default;
};

/// What is fixed about an environment.
struct env_spec {
  std::string id;  ///< Such as "CartPole-v1".
  space observation_space;
  space action_space;
  std::optional<std::int64_t> max_episode_steps = std::nullopt;  ///< None: no time limit.
  std::optional<double> reward_threshold = std::nullopt;  ///< Mean return that counts as solved.
  std::size_t levels = 1;            ///< From 0, the easiest, to the last, the task itself.
  std::vector<env_task> tasks = {};  ///< Where it has several; empty: one.
  bool operator==(const env_spec&) const = default;
};

/// One environment's action, borrowed for the call. It lies inside the action space: whole numbers
/// are checked and box actions clipped to the bounds before an environment sees them.
class action_view {
 public:
  explicit action_view(std::span<const std::int64_t> integers) : integers_(integers) {}
  explicit action_view(std::span<const float> floats) : floats_(floats) {}
  explicit action_view(const std::int64_t& integer) : integers_(&integer, 1) {}
  explicit action_view(std::int64_t&&) = delete;  // would dangle

  /// The action of a discrete space.
  std::int64_t discrete() const {
    if (integers_.empty()) throw_wrong_kind("discrete", "continuous");
    return integers_[0];
  }
  /// The parts of a multi_discrete or multi_binary action.
  std::span<const std::int64_t> parts() const { return integers_; }
  /// The elements [A] of a box action.
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

/// Two facts, never one: `terminated` means that the task itself ended, so nothing is to be
/// expected from the next state; `truncated` that the episode was cut. Both may hold.
struct step_result {
  double reward = 0;
  bool terminated = false;
  bool truncated = false;
  /// Of the step that ends an episode: whether the episode was a success, for a curriculum. None:
  /// it was if it terminated, as where a goal is reached.
  std::optional<bool> success = std::nullopt;
};

/// Thrown by `write_obs`.
class wrong_shape : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A single environment. It owns its random generator, and does not count steps: whoever drives it
/// applies `env_spec::max_episode_steps`.
///
/// `obs` is the flattened observation [D], D = observation_space.flat_size(), to be written in full
/// by every call. What throws, or leaves something not finite, ends the episode as a failure; see
/// `env_failure`.
class environment {
 public:
  virtual ~environment() = default;

  /// The same at every call, and for every instance that one factory makes.
  virtual env_spec spec() const = 0;
  /// Starts an episode. A seed makes the generator anew; without one its stream goes on, and the
  /// very first time the operating system seeds it.
  virtual void reset(std::optional<std::uint64_t> seed, std::span<float> obs) = 0;
  /// One step. Called only between a reset and the episode's end.
  virtual step_result step(action_view action, std::span<float> obs) = 0;

  /// The level of the episode that the next reset begins, below env_spec::levels. Called before
  /// each reset, and before a restore, of environments with more than one. Does nothing by default.
  virtual void set_level(std::size_t level);
  /// The same of the task, below the number of env_spec::tasks.
  virtual void set_task(std::size_t task);

  /// For checkpoints: puts everything that what comes hangs on into `to`, generator included, and
  /// returns true. False, the default: it can't be saved, so a run begins it anew after each of
  /// its checkpoints, whether it was interrupted there or not.
  virtual bool save(state_writer& to) const;
  /// Goes on from what `save` of an equal environment has put. Throws state_error.
  virtual void restore(const state_reader& from);
};

/// Copies `values` into `obs`. Throws wrong_shape, naming both sizes, if they differ.
void write_obs(std::span<const float> values, std::span<float> obs);

}  // namespace troupe
