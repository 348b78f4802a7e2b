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
// With several agents each policy has statistics of its own, of the rows of its agents that act.
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
#include "actors/networks/joint_shape.hpp"

namespace troupe {

/// The columns of a policy's rows [N, D] that are normalised: the observation, and what only the
/// critic sees. An agent's number and its action mask stay as they are. A default-constructed
/// object stands for a policy whose rows are not normalised.
class normalized_columns {
 public:
  normalized_columns() = default;
  /// `rows` has the policies of a run.
  normalized_columns(const agent_rows& rows, std::size_t policy);

  std::size_t count() const { return front_ + back_; }  ///< C, the columns that are normalised.
  std::size_t width() const { return width_; }          ///< D
  bool are_all() const { return count() == width_; }
  /// Copies these columns of rows [N, D] to `to` [N, C].
  void gather(std::span<const float> rows, std::span<float> to) const;
  /// Copies columns [N, C] to their places in rows [N, D].
  void scatter(std::span<const float> from, std::span<float> rows) const;
  /// Returns the statistics of whole rows, by which the other columns stay as they are.
  running_moments of_rows(const running_moments& columns) const;
  /// Returns the part of the statistics of whole rows that is about these columns.
  running_moments of_columns(const running_moments& rows) const;

 private:
  std::size_t width_ = 0, front_ = 0, back_ = 0;  // D, and the first and last columns
};

/// The statistics that one rollout has added.
struct seen_statistics {
  /// Moments of the observations of each policy; no columns if these aren't normalised.
  std::vector<running_moments> obs;
  running_moments reward;    ///< Moments of discounted returns [1]; no columns if not normalised.
  std::int64_t replica = 0;  ///< The replica of the environments; the first of several groups.
  std::int64_t number = 0;   ///< How many rollouts of the run had ended before this one.
};

/// The statistics of one rollout under way.
class rollout_normalizer {
 public:
  /// The statistics of each policy; none if its observations are not normalised.
  using obs_normalizers = std::vector<std::optional<running_normalizer>>;

  /// Begins with these statistics. No `reward` means that rewards are not normalised. `columns` and
  /// `obs` are those of each policy.
  rollout_normalizer(std::vector<normalized_columns> columns, obs_normalizers obs,
                     std::optional<running_normalizer> reward, std::int64_t replica);

  /// Adds rows [N, D] of a policy, where `acts` [N] is not 0: agents that have ended or wait for
  /// their turn do not count.
  void add(std::size_t policy, std::span<const float> rows, std::span<const std::uint8_t> acts);
  /// Normalises rows [N, D] of a policy by the statistics so far.
  void normalize(std::size_t policy, std::span<float> rows) const;
  /// Adds a step's discounted returns and normalises its rewards. Throws std::invalid_argument if
  /// rewards are normalised and the step has no discounted returns.
  void take_rewards(env_step& after);

  const seen_statistics& seen() const { return seen_; }

 private:
  std::vector<normalized_columns> columns_;
  obs_normalizers obs_;
  std::optional<running_normalizer> reward_;
  seen_statistics seen_;
  mutable std::vector<float> gathered_;  // [N, C]
};

/// The statistics of a run, which its rollouts and updates share on the actor of the loop.
class run_normalizer {
 public:
  /// `columns` are those of each policy. `rewards` says whether rewards are normalised.
  run_normalizer(std::vector<normalized_columns> columns, bool rewards);

  /// Takes these moments of a policy's rows [D] for those so far. Throws state_error if they are of
  /// other observations.
  void start_from(std::size_t policy, const running_moments& rows);

  /// True if the observations of a policy are normalised.
  bool normalizes(std::size_t policy) const { return obs_[policy].has_value(); }
  /// The statistics for a rollout that begins on the environments of `replica`.
  rollout_normalizer begin(std::int64_t replica) const;
  /// Called when a rollout has ended. Returns the statistics that it has added, with a number. They
  /// count for the next rollouts of its replica until an update takes in these or later ones.
  seen_statistics end(const rollout_normalizer& of);
  /// Adds the statistics of the rollouts of one update to those of the run.
  void take_in(std::vector<seen_statistics> batch);

  /// The moments of the rows [D] of each policy in all updates so far; no columns if these aren't
  /// normalised.
  std::vector<running_moments> obs() const;

  std::string save() const;
  /// Restores what `save` returned. Throws state_error if it is the state of other observations or
  /// rewards.
  void restore(std::string_view bytes);

 private:
  std::vector<normalized_columns> columns_;
  rollout_normalizer::obs_normalizers obs_;
  std::optional<running_normalizer> reward_;
  std::vector<seen_statistics> pending_;  // rollouts that no update has taken in, oldest first
  std::int64_t ended_ = 0;
};

}  // namespace troupe
