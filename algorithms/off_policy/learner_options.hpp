#pragma once

#include "actors/policy/network.hpp"
#include "algorithms/learner/annealing.hpp"

namespace troupe {

/// What the options of every off-policy learner begin with; each has defaults of its own.
struct off_policy_learner_options {
  double lr = 1e-3;  ///< Adam's step size at the start
  annealing lr_schedule = annealing::constant;
  double tau = 0.005;          ///< share of the new weights in an update of the target; 1: a copy
  double adam_eps = 1e-8;      ///< added to the root of the second moment
  int max_skipped_steps = 10;  ///< non-finite steps in a row that end training
  gradient_backend backend = gradient_backend::automatic;
  network_options network = {.hidden_activation = activation::relu, .ortho_init = false};
};

}  // namespace troupe
