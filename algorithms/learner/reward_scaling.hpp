#pragma once
// Centres and scales rewards by running statistics. The learners of several agents use it.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/running_normalizer.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

/// What is done with rewards before a learner learns from them. Mean and deviation are those of all
/// rewards so far.
enum class reward_scaling {
  none,
  center,       ///< The mean is subtracted.
  scale,        ///< Rewards are divided by their deviation.
  standardize,  ///< Both, as with EPyMARL's standardise_rewards.
};

void describe(enum_schema<reward_scaling>& s);

/// Describes the field `normalize_reward` of an Options.
template <class Options, class Base>
void describe_reward_scaling(options_schema<Options>& s, reward_scaling Base::* field) {
  s.field("normalize_reward", field)
      .also_known_as({"standardise_rewards"})
      .help(
          "What is done with rewards before they are learned from, by the mean and the deviation "
          "of "
          "all rewards so far: center subtracts the mean, scale divides by the deviation, "
          "standardize does both. Without the mean the length of an episode is worth something "
          "else, so center and standardize are for episodes of one length.");
}

namespace detail {

/// The statistics of N columns of rewards, such as those of N agents.
class reward_scale {
 public:
  using state = std::vector<running_moments>;

  reward_scale(reward_scaling how, std::size_t columns);

  bool is_wanted() const { return how_ != reward_scaling::none; }
  /// Adds rewards to a column. Those that are not finite do not count.
  void add(std::size_t column, std::span<const float> rewards);
  float apply(std::size_t column, float reward) const;

  /// Empty if nothing is scaled.
  const state& saved() const { return moments_; }
  /// Throws std::invalid_argument that begins with `name` if the state is of other columns.
  void restore(const char* name, const state& saved);

 private:
  reward_scaling how_;
  std::vector<running_moments> moments_;  // [N] of one column each
  std::vector<float> finite_;
};

}  // namespace detail
}  // namespace troupe
