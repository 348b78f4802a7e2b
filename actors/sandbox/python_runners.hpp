#pragma once
// Internal to sandbox/: the programs that run a model's Python inside a sandbox.

#include <string>
#include <vector>

namespace troupe {

/// What an interpreter runs: sandbox_numbers.hpp has its descriptors.
extern const char* const one_program;  ///< a program, once it may begin
extern const char* const notebook;     ///< cells, one after another

/// The command of an interpreter that runs one of these. Throws std::system_error if there is none
/// at that path.
std::vector<std::string> python_command(const std::string& python, const char* runner);

/// Throws std::invalid_argument for a program of 128 KiB or more, and for one with a zero byte.
void check_program(const std::string& program);

}  // namespace troupe
