#pragma once
// Normalises the observations and rewards of rollouts by running statistics, as Stable-Baselines3's
// VecNormalize does: each step's rows are added to the statistics of all rows so far, and are then
// normalised by them. The policy acts on normalised observations, and rollouts store them.
//
//   rollout    begins with the run's statistics, plus the rows of its own replica in rollouts that
//              have not been trained on yet. It carries the statistics that it has added itself.
//   update     adds the statistics of its rollouts to those of the run, in the order of the
//              environments' replicas, so that the order of arrival does not matter. The result is
//              part of the new weights, for evaluations and models.
//
// With one replica in sync mode the numbers are those of VecNormalize. With several, a replica gets
// the other replicas' rows with its next rollout, whereas VecNormalize has the rows of all
// environments at each step.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/environments/running_normalizer.hpp"
#include "actors/environments/vector_environment.hpp"

namespace troupe {

/// The statistics that one rollout has added.
struct seen_statistics {
  running_moments obs;     ///< Moments of observations [D]; no columns if these aren't normalised.
  running_moments reward;  ///< Moments of discounted returns [1]; no columns as above.
  std::int64_t replica = 0;  ///< The replica of the environments; the first of several groups.
  std::int64_t number = 0;   ///< How many rollouts of the run had ended before this one.
};

/// The statistics of one rollout under way.
class rollout_normalizer {
 public:
  /// Begins with these statistics. None means observations, or rewards, are not normalised.
  rollout_normalizer(std::optional<running_normalizer> obs,
                     std::optional<running_normalizer> reward, std::int64_t replica);

  /// Adds the observations [B, D] of environments that have just been reset.
  void add_begun(std::span<const float> obs);
  /// Normalises obs [B, D] by the statistics so far.
  void normalize(std::span<float> obs) const;
  /// Adds a step's observations and discounted returns. Then normalises its observations, the last
  /// observations of episodes that ended, and its rewards. Throws std::invalid_argument if rewards
  /// are normalised and the step has no discounted returns.
  void take_step(env_step& after);

  const seen_statistics& seen() const { return seen_; }

 private:
  std::optional<running_normalizer> obs_, reward_;
  seen_statistics seen_;
};

/// The statistics of a run, which its rollouts and updates share on the actor of the loop.
class run_normalizer {
 public:
  /// `obs_size` is D; 0 means observations are not normalised. `rewards` says whether rewards are.
  run_normalizer(std::size_t obs_size, bool rewards);

  /// Takes these moments of observations for those so far. Throws state_error if they are of other
  /// observations.
  void start_from(const running_moments& obs);

  /// The statistics for a rollout that begins on the environments of `replica`.
  rollout_normalizer begin(std::int64_t replica) const;
  /// Called when a rollout has ended. Returns the statistics that it has added, with a number. They
  /// count for the next rollouts of its replica until an update takes in these or later ones.
  seen_statistics end(const rollout_normalizer& of);
  /// Adds the statistics of the rollouts of one update to those of the run.
  void take_in(std::vector<seen_statistics> batch);

  /// The moments of observations in all updates so far; no columns if these aren't normalised.
  running_moments obs() const { return obs_ ? obs_->moments() : running_moments(); }

  std::string save() const;
  /// Restores what `save` returned. Throws state_error if it is the state of other observations or
  /// rewards.
  void restore(std::string_view bytes);

 private:
  std::optional<running_normalizer> obs_, reward_;
  std::vector<seen_statistics> pending_;  // rollouts that no update has taken in, oldest first
  std::int64_t ended_ = 0;
};

}  // namespace troupe
