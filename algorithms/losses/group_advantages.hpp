#pragma once
// How much better an answer is than the others to the same prompt. No tensors.

#include <optional>
#include <vector>

namespace troupe {

/// What is subtracted from an answer's reward R_i, and what the difference is divided by. Mean and
/// deviation (of n - 1) are over the answers of the group that have a reward.
enum class advantage_kind {
  group_std,      ///< (R_i - mean) / (std + eps): Shao et al. 2024, arXiv:2402.03300, section 4.1.2
  group_mean,     ///< R_i - mean: Dr.GRPO, Liu et al. 2025, arXiv:2503.20783, section 3.2
  batch_std,      ///< (R_i - mean) / (std of the whole batch + eps): Hu et al. 2025,
                  ///< arXiv:2501.03262, with the group's mean
  leave_one_out,  ///< R_i - mean of the others: RLOO, Ahmadian et al. 2024, arXiv:2402.14740
  reward,         ///< R_i: Williams 1992, without a baseline
};

/// The rewards of one prompt's answers. One without a reward (its judge failed) is no bad answer:
/// it stays out of mean and deviation, and its advantage is 0.
using group_rewards = std::vector<std::optional<double>>;

struct group_advantages {
  std::vector<std::vector<double>> advantages;  ///< as the rewards
  /// Of each group: all its rewards are the same (or there are fewer than two), so that there is
  /// nothing to learn from it. Its advantages are exactly 0, but for kind `reward`.
  std::vector<bool> zero_variance;
};

/// The deviation (of n - 1) of the rewards that there are; 0 of fewer than two.
double reward_std(const group_rewards& rewards);

/// `eps` is TRL's and torchforge's; it matters where rewards are nearly constant. Throws
/// std::invalid_argument for a reward that is not finite.
group_advantages advantages_of(const std::vector<group_rewards>& rewards, advantage_kind kind,
                               double eps = 1e-4);

}  // namespace troupe
