#pragma once
// The step size over the updates of a language model: a warm-up, then a decay.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace troupe {

/// The step size after the warm-up.
enum class lr_decay {
  constant,
  cosine,  ///< Loshchilov and Hutter 2017, arXiv:1608.03983, equation 5, without restarts
  linear,
};

/// The step size of each update, counted from 0.
struct lr_schedule {
  double lr = 0.0;  ///< the step size of the first update after the warm-up
  lr_decay decay = lr_decay::constant;
  std::int64_t warmup_updates = 0;  ///< the updates over which the step size rises in a line
  /// True if the warm-up begins with a step size of 0, as in transformers; false if it begins with
  /// lr / warmup_updates.
  bool begins_at_zero = false;
  std::int64_t total_updates = 0;  ///< where the decay ends; 0 means that there is none
  double final_share = 0.0;        ///< the share of lr that is left at the end of the decay

  double at(std::int64_t update) const {
    if (update < warmup_updates)
      return lr * static_cast<double>(begins_at_zero ? update : update + 1) /
             static_cast<double>(warmup_updates);
    if (decay == lr_decay::constant || total_updates == 0) return lr;
    const auto after = static_cast<double>(update - warmup_updates);
    const auto whole =
        static_cast<double>(std::max<std::int64_t>(1, total_updates - warmup_updates));
    const double passed = std::min(1.0, after / whole);
    const double share = decay == lr_decay::linear
                             ? 1.0 - passed
                             : 0.5 * (1.0 + std::cos(std::numbers::pi * passed));
    return lr * (final_share + (1.0 - final_share) * share);
  }
};

}  // namespace troupe
