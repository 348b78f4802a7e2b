#pragma once
// What ./dev simulate has played, which a file keeps so that a later command can continue it.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace troupe::simulation {

/// What is played. Seeds that another build has played, or that were played under other faults, say
/// nothing about these.
struct game {
  std::string build, faults, workload;  ///< An empty workload means all of them.
  std::uint64_t from = 1;

  bool operator==(const game&) const = default;
};

struct progress {
  std::uint64_t played = 0;                   ///< Seeds that broke no invariant, from the first on.
  std::map<std::string, std::uint64_t> ends;  ///< Their calls by how they ended.
};

/// Returns the progress of this game in the file, or none if the file is missing or is of another
/// game. Throws std::runtime_error, naming the file, if it is something else or can't be read.
progress read_progress(const std::filesystem::path& file, const game& of);

/// Replaces the file. Throws std::runtime_error, naming it.
void write_progress(const std::filesystem::path& file, const game& of, const progress& what);

}  // namespace troupe::simulation
