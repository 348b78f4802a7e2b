#pragma once
// Advantages of a language model's answers: how much better an answer is than the others to the
// same prompt. The GRPO learner uses them. This file needs no tensors.

#include <optional>
#include <vector>

namespace troupe {

/// The formula of an answer's advantage from its reward R_i. Mean and standard deviation (with
/// n - 1) are over those answers of the group that have a reward.
enum class advantage_kind {
  group_std,      ///< (R_i - mean) / (std + eps): Shao et al. 2024, arXiv:2402.03300, section 4.1.2
  group_mean,     ///< R_i - mean: Dr.GRPO, Liu et al. 2025, arXiv:2503.20783, section 3.2
  batch_std,      ///< (R_i - mean) / (std of the whole batch + eps): Hu et al. 2025,
                  ///< arXiv:2501.03262, with the group's mean
  leave_one_out,  ///< R_i - mean of the others: RLOO, Ahmadian et al. 2024, arXiv:2402.14740
  reward,         ///< R_i: Williams 1992, without a baseline
};

/// The rewards of the answers to one prompt. An answer whose judge failed has no reward: it does
/// not count in mean and deviation, and its advantage is 0.
using group_rewards = std::vector<std::optional<double>>;

/// The standard deviation (with n - 1) of the rewards that exist; 0 if there are fewer than two.
double reward_std(const group_rewards& rewards);

/// Computes the advantages of several groups, one for each reward. `eps` has the default of TRL and
/// torchforge; it matters if rewards are nearly constant. If all rewards of a group are equal or
/// there are fewer than two, its advantages are exactly 0, except with kind `reward`. Throws
/// std::invalid_argument for a reward that is not finite.
std::vector<std::vector<double>> advantages_of(const std::vector<group_rewards>& rewards,
                                               advantage_kind kind, double eps = 1e-4);

}  // namespace troupe
