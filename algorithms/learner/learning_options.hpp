#pragma once
// The options that all learners have.

#include "algorithms/learner/annealing.hpp"

namespace troupe {

/// The options that all learners have.
struct learning_options {
  double lr = 1e-3;
  annealing lr_schedule = annealing::constant;
  int max_skipped_steps = 10;  ///< So many skipped updates in a row throw non_finite_training.
};

}  // namespace troupe
