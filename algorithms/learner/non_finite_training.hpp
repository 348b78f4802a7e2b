#pragma once
#include <stdexcept>

namespace troupe {

/// Loss or gradient was not finite for max_skipped_steps optimiser steps in a row.
class non_finite_training : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace troupe
