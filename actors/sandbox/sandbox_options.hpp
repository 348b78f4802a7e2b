#pragma once
// The options of services that run what is not trusted.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/sandbox/code_result.hpp"

namespace troupe {

/// Thrown where programs can't be put into a sandbox. The message says which setting, package or
/// option of a container is missing.
class sandbox_unavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The least code_limits::memory_bytes for so many processes, beside the default written_bytes.
std::int64_t sandbox_memory_min(int processes);

struct sandbox_options {
  code_limits limits = {};
  /// The files and folders of this machine that programs can read. They can read nothing else.
  std::vector<std::string> readable = {"/usr"};
  /// The number of runs at the same time; further ones wait. 0 means the number of processors.
  int parallel = 0;
  /// The number of interpreters that are started ahead, each in a sandbox of its own. -1 means the
  /// number of runs at the same time.
  int warm = -1;
  std::string python = "/usr/bin/python3";  ///< an interpreter below `readable`
  /// The range of user numbers for programs, if this process is root's. Each service takes two that
  /// are free, an even one and the next. systemd uses those from 61184 to 65519 for services that
  /// get a user when they start.
  std::uint32_t first_user = 61'184;
  std::uint32_t last_user = 65'519;
};

}  // namespace troupe
