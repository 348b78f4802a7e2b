#pragma once
// REINFORCE (Williams 1992, https://doi.org/10.1007/BF00992696, equation 11), with an optional
// learned baseline (Sutton and Barto 2018, section 13.4). The weights follow the gradient of
//
//   mean over steps of  log pi(a_t | s_t) (G_t - b(s_t)),  G_t = r_t + gamma G_{t+1}
//
// over whole episodes. The steps of an episode that has not ended when the rollout ends are not
// trained on, since their return isn't known; so n_steps should be several episodes long. The
// gradient is not discounted by gamma^t, as in most implementations.
//
// REINFORCE uses PPO's roles and learner with one epoch, the whole batch at once, no clipping,
// lambda 1 and no values of unfinished episodes. After the last step of an episode that is cut by
// its time limit, the return goes on with the baseline's value of the last observation; without a
// baseline it ends there.

#include "algorithms/on_policy/reinforce/config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The algorithm REINFORCE with that configuration, for train().
algorithm algorithm_with(const reinforce_config& config);

}  // namespace troupe
