#pragma once
// Internal to coder/: one program, with limits.

#include <string>
#include <vector>

#include "actors/coder/coder.hpp"

namespace troupe {

struct limited_program {
  static constexpr int program_number = 4;

  std::vector<std::string> command;  ///< argv; the first is a path
  int program = -1;                  ///< the descriptor that it has as program_number
  int input = -1;                    ///< the descriptor that is its standard input
  std::string folder;                ///< where it runs
  code_limits limits;
};

/// Starts it, waits until it has ended or has to, and kills what is left of its process group.
/// Throws std::system_error.
code_result run_limited(const limited_program& what);

}  // namespace troupe
