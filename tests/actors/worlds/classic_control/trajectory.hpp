#pragma once
// Recorded trajectories of Gymnasium's environments, and their comparison with ours bit for bit.

#include <cstdint>
#include <iosfwd>
#include <map>
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

/// Replays a record: `E id [seed]` begins a run with a seeded reset (`seed` if it names none), `R
/// state | obs` is a reset, `S action state | obs | reward terminated truncated` a step. All
/// numbers are bit patterns of doubles, but for a discrete action. The class is compared in state,
/// observation, reward and flag; a vector environment of one beside it in observations, reward,
/// flags, time limit and last observations, for as long as no action of the run was outside of its
/// box. Returns a report for each environment's id. Throws std::runtime_error at a line that is
/// none of these.
std::map<std::string, trajectory_report> replay_trajectories(std::istream& record,
                                                             std::uint64_t seed);

}  // namespace troupe
