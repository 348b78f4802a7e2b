#pragma once
// REINFORCE: Williams 1992, https://doi.org/10.1007/BF00992696, equation 11; with a learned
// baseline Sutton and Barto 2018, section 13.4. The weights follow the gradient of
//
//   mean over steps of  log pi(a_t | s_t) (G_t - b(s_t)),  G_t = r_t + gamma G_{t+1}
//
// over whole episodes: the steps of an episode that is still under way when the rollout ends don't
// count, since their return isn't known. (Those before it in the same rollout do; so n_steps is to
// be several episodes long.) There is no discount of the gradient itself by gamma^t, as everywhere.
//
// It is PPO's roles and learner with one epoch, the whole batch at once, nothing clipped, lambda 1
// and no value of an unfinished episode. An episode that is cut by its time limit goes on with the
// baseline's value of what was seen last; without a baseline the cut is its end.

#include "algorithms/on_policy/reinforce/config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// REINFORCE with that configuration, for a run.
algorithm algorithm_with(const reinforce_config& config);

}  // namespace troupe
