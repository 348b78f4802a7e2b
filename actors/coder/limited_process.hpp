#pragma once
// Internal to coder/: runs one program with limits.

#include <string>
#include <vector>

#include "actors/coder/coder.hpp"

namespace troupe {

class program_user;

/// A program, its descriptors, its limits and its user.
struct limited_program {
  static constexpr int program_number = 4;

  std::vector<std::string> command;  ///< argv; the first is a path
  int program = -1;                  ///< the descriptor that becomes program_number in the program
  int input = -1;                    ///< the descriptor that becomes its standard input
  std::string folder;                ///< the program's working directory
  code_limits limits;
  /// The user that it runs as. Null means this process's user, without any child process.
  program_user* user = nullptr;
};

/// Starts the program and waits until it has ended or exceeds a limit. Then kills the rest of its
/// process group and all processes of its own user. Throws std::system_error, and what
/// program_user::end_processes() throws.
code_result run_limited(const limited_program& what);

}  // namespace troupe
