#pragma once
// Observations and rewards of rollouts brought to one scale by running statistics, as
// Stable-Baselines3's VecNormalize does: each step's rows are added to the statistics of all that
// was seen, and then normalised by them. What the policy acts on is normalised so, and what is
// stored is what it acted on.
//
//   rollout    begins with the run's statistics and with what its environments have shown in
//              rollouts that are not trained on yet; carries what it has added itself.
//   update     joins what its rollouts carry to the run's statistics, in the order of the
//              environments' replicas, whichever came first. They are part of the weights that it
//              gives, for evaluations and models.
//
// With one replica in sync mode these are VecNormalize's numbers. Replicas learn of one another's
// rows with the next rollout, where VecNormalize has those of all environments at each step.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/environments/running_normalizer.hpp"
#include "actors/environments/vector_environment.hpp"

namespace troupe {

/// What one rollout has added to the statistics.
struct seen_statistics {
  running_moments obs;       ///< Of observations [D]; no columns: they are not normalised.
  running_moments reward;    ///< Of discounted returns [1]; the same.
  std::int64_t replica = 0;  ///< Whose environments these are; of several groups the first.
  std::int64_t number = 0;   ///< Rollouts of the run that ended before.
};

/// The statistics of one rollout under way.
class rollout_normalizer {
 public:
  /// They begin with these; null: observations, or rewards, stay as they are.
  rollout_normalizer(std::optional<running_normalizer> obs,
                     std::optional<running_normalizer> reward, std::int64_t replica);

  /// Adds the rows that environments show which have just been reset: obs [B, D].
  void add_begun(std::span<const float> obs);
  /// Normalises obs [B, D] by all that was added.
  void normalize(std::span<float> obs) const;
  /// Adds a step's observations and discounted returns, then normalises its observations, the last
  /// ones of episodes that ended, and its rewards. Throws std::invalid_argument where rewards are
  /// normalised and the step comes without discounted returns.
  void take_step(env_step& after);

  const seen_statistics& seen() const { return seen_; }

 private:
  std::optional<running_normalizer> obs_, reward_;
  seen_statistics seen_;
};

/// The statistics of a run. Its rollouts and its updates share one, all on the actor of the loop.
class run_normalizer {
 public:
  /// `obs_size`: D; 0: observations stay as they are. `rewards`: whether they are normalised.
  run_normalizer(std::size_t obs_size, bool rewards);

  /// For a rollout that begins on the environments of `replica`.
  rollout_normalizer begin(std::int64_t replica) const;
  /// A rollout has ended. What it has added is given back with a number, and counts for its own
  /// replica until an update has taken it in, or a later one.
  seen_statistics end(const rollout_normalizer& of);
  /// What the rollouts of one update have added becomes the run's.
  void take_in(std::vector<seen_statistics> batch);

  /// Of observations, of all updates so far; no columns where they are not normalised.
  running_moments obs() const { return obs_ ? obs_->moments() : running_moments(); }

  std::string save() const;
  /// Throws state_error if the bytes are not those of an equal one.
  void restore(std::string_view bytes);

 private:
  std::optional<running_normalizer> obs_, reward_;
  std::vector<seen_statistics> pending_;  // of rollouts that no update has taken in, oldest first
  std::int64_t ended_ = 0;
};

}  // namespace troupe
