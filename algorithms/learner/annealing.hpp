#pragma once

namespace troupe {

/// How a number goes on over the training; linear: times progress_remaining, of which training_run
/// has the formula.
enum class annealing { constant, linear };

/// The number now. `progress_remaining` falls from 1 to 0 over the training.
inline double annealed(double start, annealing over, double progress_remaining) {
  return over == annealing::linear ? start * progress_remaining : start;
}

}  // namespace troupe
