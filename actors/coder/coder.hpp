#pragma once
// The role that runs programs which a model has written.

#include <array>
#include <cstdint>
#include <string>

#include "runtime/metrics/registry.hpp"

namespace troupe {

struct code_request {
  std::string program;  ///< Python; less than 128 KiB
  std::string input;    ///< its standard input
};

enum class code_end {
  exited,     ///< by itself
  signalled,  ///< a signal ended it, such as that of a limit (SIGXCPU) or of a crash
  timed_out,  ///< it was killed after wall_s
  flooded     ///< it was killed because it wrote more than output_bytes
};

struct code_result {
  code_end status = code_end::exited;
  int exit_code = 0;       ///< of one that exited
  int signal = 0;          ///< that ended one that didn't
  std::string output;      ///< what came from its standard output and error; any bytes
  std::string reported;    ///< what it wrote to descriptor 3, where a program gives its results
  bool truncated = false;  ///< there was more of one of them
  double cpu_s = 0.0;

  bool succeeded() const { return status == code_end::exited && exit_code == 0; }
};

/// Of one program.
struct code_limits {
  double wall_s = 5.0;  ///< then it is killed, whatever it does
  int cpu_s = 5;        ///< then it gets SIGXCPU, and a second later SIGKILL
  std::int64_t memory_bytes = std::int64_t{512} << 20;  ///< of its address space
  std::int64_t file_bytes = 1 << 20;                    ///< of each file
  int open_files = 32;
  std::int64_t output_bytes = 64 << 10;  ///< of its output, and of its report
};

struct coder_options {
  /// Must be true: see coder.
  bool allow_unsandboxed = false;
  code_limits limits = {};
  std::string python = "/usr/bin/python3";
};

/// Runs each program in a process of its own that is gone when the call returns: with the limits
/// above, without threads or processes of its own, environment, core file or any descriptor of this
/// process's, in an empty folder that is removed. Where this process is root's, it runs as nobody.
///
/// That is no sandbox. A program can read and write all that its user can, and leave files in the
/// system's folder for temporary ones; it can open sockets and reach the network. Where its user is
/// this process's, it can also read the environment of that user's processes in /proc, write their
/// memory where the kernel doesn't forbid it (Yama), and send signals to them. A call blocks its
/// thread until the program has ended, so a coder is served with placement::thread.
class coder {
 public:
  /// Throws std::invalid_argument unless `allow_unsandboxed`, and for limits below 1 or not finite;
  /// std::system_error where the interpreter isn't there.
  /// Where there is a registry it counts programs by how they ended:
  /// troupe_code_runs_total{end}.
  explicit coder(coder_options options, metrics_registry* metrics = nullptr);

  /// Throws std::invalid_argument for a program that is too long, and std::system_error where it
  /// can't be started, which says nothing of the program.
  code_result run(code_request asked);

 private:
  coder_options options_;
  std::array<metric_counter, 4> ends_;  // by code_end
};

}  // namespace troupe
