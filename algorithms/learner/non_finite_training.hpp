#pragma once
// The error with which learners end training on numbers that are not finite.

#include <stdexcept>

namespace troupe {

/// Thrown when the loss or gradient was not finite in max_skipped_steps optimiser steps in a row.
class non_finite_training : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace troupe
