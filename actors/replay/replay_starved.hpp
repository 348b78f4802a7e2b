#pragma once

#include <stdexcept>

namespace troupe {

/// A sample that could not be had in time: says who waited, for what and why.
class replay_starved : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace troupe
