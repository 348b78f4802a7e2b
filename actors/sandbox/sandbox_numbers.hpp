#pragma once
// Internal to sandbox/: the descriptors of a process that starts in a sandbox.

namespace troupe::sandbox_numbers {

constexpr int reported = 3;  ///< a pipe for a program's results
constexpr int go = 4;        ///< a pipe; a byte, once the run may begin
constexpr int program = 5;   ///< the text of a program
constexpr int limit = 6;     ///< a pipe; "ready", a line, and the name of a limit that was hit
constexpr int filter = 7;    ///< bwrap's alone: the filter of system calls
constexpr int status = 8;    ///< bwrap's alone: a pipe for what becomes of the sandbox
constexpr int count = 9;

/// Where the folders for a run's files are mounted before bwrap starts, in namespaces of its own.
/// Every Linux has this folder, and no program of a sandbox needs what is below it.
constexpr const char* space = "/sys";

}  // namespace troupe::sandbox_numbers
