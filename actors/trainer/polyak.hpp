#pragma once
// Polyak averaging, for target networks.
#include <span>

namespace troupe {

/// Sets target <- (1 - tau) target + tau source in one pass; tau = 1 copies. Throws
/// std::invalid_argument if the sizes differ.
void polyak_average(std::span<const float> source, double tau, std::span<float> target);

}  // namespace troupe
