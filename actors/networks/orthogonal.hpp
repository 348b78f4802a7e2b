#pragma once
// Random orthonormal matrices, for orthogonal initialisation of weights.

#include <vector>

#include "actors/random/action_random.hpp"

namespace troupe::detail {

/// Draws a random matrix [count, length], count <= length, and makes its rows orthonormal one after
/// the other (modified Gram-Schmidt). This is the Q of a QR decomposition whose R has a positive
/// diagonal.
std::vector<double> orthonormal_rows(action_random& random, int count, int length);

/// Draws the weight [in, out] of a layer: its columns are orthonormal, or its rows if there are
/// more columns than rows, times the gain.
void write_orthogonal(action_random& random, int in, int out, double gain, float* weight);

}  // namespace troupe::detail
