#pragma once
// Ends training after too many skipped optimiser steps in a row. Every learner has one.

#include <fmt/format.h>

#include "algorithms/learner/non_finite_training.hpp"

namespace troupe::detail {

/// Counts consecutive optimiser steps that were skipped because a number was not finite. `limit` is
/// max_skipped_steps.
class skip_guard {
 public:
  skip_guard(const char* algorithm, int limit) : algorithm_(algorithm), limit_(limit) {}
  void taken() { in_a_row_ = 0; }
  /// Counts a skipped step. Throws non_finite_training at the limit.
  void skipped(const char* what, double value) {
    if (++in_a_row_ < limit_) return;
    throw non_finite_training(
        fmt::format("{}: {} optimiser steps in a row were not finite, the last for its {} of {}; "
                    "the weights are those of the last finite step",
                    algorithm_, in_a_row_, what, value));
  }
  int in_a_row() const { return in_a_row_; }
  void set_in_a_row(int count) { in_a_row_ = count; }

 private:
  const char* algorithm_;
  int limit_;
  int in_a_row_ = 0;
};

}  // namespace troupe::detail
