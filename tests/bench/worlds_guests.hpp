#pragma once
// Environments in Python beside Gymnasium's AsyncVectorEnv.
//
//   guest_vs_async_vector_8x1  8 environments, each in a process of its own on both sides
//   guest_vs_async_vector_64   64 environments: 8 of them in each of 8 processes, beside
//                              AsyncVectorEnv's 64 processes
//
// Each is the median of ratios of wall times over rounds in which the two sides run in turn. Both
// sides take the same actions in CartPole-v1 of the same Gymnasium with the same seeds, and must
// see the same observations and as many episodes.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace troupe {

/// Returns what a shell command prints. Throws std::runtime_error if it fails.
std::string output_of(const std::string& command);

/// Measures and prints, and adds the figures. Needs python3-venv and a Python package index.
void measure_guests(nlohmann::json& figures);

}  // namespace troupe
