#pragma once
// The options that all learners have.

#include "algorithms/learner/annealing.hpp"

namespace troupe {

/// The options that all learners have.
struct learning_options {
  double lr = 1e-3;
  annealing lr_schedule = annealing::constant;
  int max_skipped_steps = 10;  ///< So many skipped steps in a row throw non_finite_training.
};

/// These options of an algorithm's options.
template <class Options>
learning_options learning_of(const Options& of) {
  return {.lr = of.lr, .lr_schedule = of.lr_schedule, .max_skipped_steps = of.max_skipped_steps};
}

}  // namespace troupe
