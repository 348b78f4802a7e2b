#pragma once
// Polyak averaging, for target networks.
#include <cstdint>
#include <span>

namespace troupe {

/// Sets target <- (1 - tau) target + tau source in one pass; tau = 1 copies. Throws
/// std::invalid_argument if the sizes differ.
void polyak_average(std::span<const float> source, double tau, std::span<float> target);
/// The same `times` times, in one pass; 0 times change nothing.
void polyak_average(std::span<const float> source, double tau, std::span<float> target,
                    std::int64_t times);

}  // namespace troupe
