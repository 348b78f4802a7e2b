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

#include "algorithms/on_policy/ppo/ppo_config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

struct reinforce_options {
  double lr = 1e-2;  ///< Adam's step size at the start
  annealing lr_schedule = annealing::constant;
  double gamma = 0.99;             ///< discount a step
  bool baseline = true;            ///< a critic's value; false: none
  bool normalize_returns = false;  ///< returns less the baseline, to mean 0 and deviation 1
  double ent_coef = 0.0;           ///< weight of the entropy bonus
  double vf_coef = 0.5;            ///< weight of the baseline's loss
  double max_grad_norm = 0.5;      ///< of all parameters together; 0: no clipping
  double adam_eps = 1e-5;
  double importance_cap = 2.0;  ///< largest weight of stale data
  int max_skipped_steps = 10;   ///< non-finite steps in a row that end training
  int replicas = 1;             ///< learners that share the rows of each batch
  double rank_timeout = 30.0;   ///< seconds that one of them waits for the others
};

/// Everything that decides a REINFORCE run.
struct reinforce_config : on_policy_config {
  reinforce_config();

  reinforce_options trainer;
};

void describe(options_schema<reinforce_options>& s);
void describe(options_schema<reinforce_config>& s);

/// What it is to PPO's learner: one epoch with the whole batch at once, nothing clipped.
ppo_options learner_of(const reinforce_config& config);
/// What changes nothing beside the others.
std::vector<idle_rule> idle_rules_of(const reinforce_config& config);

/// For train_in and run_training.
trainable trainable_of(const reinforce_config& config);

}  // namespace troupe
