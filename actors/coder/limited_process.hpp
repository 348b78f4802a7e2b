#pragma once
// Internal to coder/: one program, with limits.

#include <string>
#include <vector>

#include "actors/coder/coder.hpp"

namespace troupe {

class program_user;

struct limited_program {
  static constexpr int program_number = 4;

  std::vector<std::string> command;  ///< argv; the first is a path
  int program = -1;                  ///< the descriptor that it has as program_number
  int input = -1;                    ///< the descriptor that is its standard input
  std::string folder;                ///< where it runs
  code_limits limits;
  program_user* user = nullptr;  ///< whom it runs as; none: this process's, without any child
};

/// Starts it, waits until it has ended or has to, and kills what is left of its process group, and
/// all that its own user still runs. Throws std::system_error, and what
/// program_user::end_processes() throws.
code_result run_limited(const limited_program& what);

}  // namespace troupe
