#pragma once
#include <vector>

#include "actors/random/action_random.hpp"

namespace troupe::detail {

/// Rows of a random matrix [count, length], count <= length, made orthonormal one after the other
/// (modified Gram-Schmidt): the Q of a QR decomposition whose R has a positive diagonal.
std::vector<double> orthonormal_rows(action_random& random, int count, int length);

}  // namespace troupe::detail
