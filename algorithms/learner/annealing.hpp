#pragma once
// The schedules of learning rates and clip ranges, which all learners use.

namespace troupe {

/// How a coefficient changes during training: `constant` keeps it, `linear` multiplies it by
/// training_run::progress_remaining.
enum class annealing { constant, linear };

/// The present value of a coefficient. `progress_remaining` falls from 1 to 0 during training.
inline double annealed(double start, annealing over, double progress_remaining) {
  return over == annealing::linear ? start * progress_remaining : start;
}

}  // namespace troupe
