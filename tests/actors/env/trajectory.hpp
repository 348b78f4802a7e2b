#pragma once
// Recorded trajectories of Gymnasium's CartPole-v1, and their comparison with ours bit for bit.

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace troupe {

struct trajectory_report {
  int steps = 0;
  int resets = 0;
  int terminated = 0;
  int truncated = 0;
  int mismatches = 0;
  std::string first_mismatch;
};

/// Replays a record: `E id seed` begins a run with a seeded reset, `R state | obs` is a reset,
/// `S action state | obs | reward terminated truncated` a step, all numbers being bit patterns of
/// doubles. The class is compared in state, observation, reward and flag; a vector environment of
/// one beside it in observations, flags, time limit and last observations. Throws
/// std::runtime_error at a line that is none of these.
trajectory_report replay_cartpole(std::istream& record, std::uint64_t seed);

}  // namespace troupe
