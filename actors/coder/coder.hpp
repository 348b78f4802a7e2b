#pragma once
// The role that runs programs which a model has written.

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/metrics/registry.hpp"

namespace troupe {

class program_user;

struct code_request {
  std::string program;  ///< Python; less than 128 KiB
  std::string input;    ///< its standard input
};

enum class code_end {
  exited,     ///< by itself
  signalled,  ///< a signal ended it, such as that of a limit (SIGXCPU) or of a crash
  timed_out,  ///< it was killed after wall_s
  flooded     ///< it wrote more than output_bytes, and was killed, or left too much in its folder
};

struct code_result {
  code_end status = code_end::exited;
  int exit_code = 0;       ///< of one that exited
  int signal = 0;          ///< that ended one that didn't
  std::string output;      ///< what came from its standard output and error; any bytes
  std::string reported;    ///< what it wrote to descriptor 3, where a program gives its results
  bool truncated = false;  ///< there was more of one of them
  double cpu_s = 0.0;
  std::int64_t left_entries = 0;  ///< files, folders and others in its folder when it had ended
  std::int64_t left_bytes = 0;    ///< of those files, by their sizes

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
  /// What it may leave in its folder: more is flooded, whatever else it did. That is counted when
  /// it has ended; until then wall_s alone limits what it writes.
  std::int64_t folder_entries = 65'536;
  std::int64_t folder_bytes = std::int64_t{256} << 20;
  /// Its processes and threads at the same time, itself included. The limits on memory, CPU time
  /// and descriptors are of each of them. More than 1 needs a user of its own: see coder.
  int processes = 1;
};

struct coder_options {
  /// Must be true: see coder.
  bool allow_unsandboxed = false;
  code_limits limits = {};
  std::string python = "/usr/bin/python3";
  /// Where this process is root's: the numbers of users that its programs run as. Each coder takes
  /// two that nobody else has, an even one and the next. Those from 61184 to 65519 are systemd's
  /// for services that get a user when they start.
  std::uint32_t first_user = 61'184;
  std::uint32_t last_user = 65'519;
};

/// Runs each program in a process of its own that is gone when the call returns: with the limits
/// above, without environment, core file or any descriptor of this process's, in an empty folder
/// that is removed.
///
/// Where this process is root's, a coder has a user of its own, which no other coder of the machine
/// has: it holds a lock on it in /run/troupe-users. All that this user runs is killed before a
/// program starts and after it has ended, whatever sessions and process groups it has made. Where
/// this process is not root's, programs run as its user, and can start no process and no thread.
///
/// That is no sandbox. A program can:
/// - read what every user of the machine can read, such as other users' files of mode 0644 and the
///   command lines of all processes;
/// - leave files outside of its folder, where every user can (/tmp, /dev/shm): nothing removes
///   those, and a later program of the same coder can read them;
/// - open sockets, and so reach the network and the services of this machine;
/// - fill the disk, until `wall_s` is over, and with `processes` times `memory_bytes` the memory.
/// Where its user is this process's, it can also read and write that user's files, read the
/// environment of that user's processes in /proc, write their memory where the kernel doesn't
/// forbid it (Yama), and send signals to them, this process included.
///
/// A call blocks its thread until the program has ended, so a coder is served with
/// placement::thread.
class coder {
 public:
  /// Throws std::invalid_argument unless `allow_unsandboxed`, for limits below 1 or not finite, for
  /// several processes without a user of its own, and for users below 1000; std::system_error where
  /// the interpreter isn't there; std::system_error and std::runtime_error where no user can be
  /// taken.
  /// Where there is a registry it counts programs by how they ended:
  /// troupe_code_runs_total{end}.
  explicit coder(coder_options options, metrics_registry* metrics = nullptr);
  ~coder();

  /// Throws std::invalid_argument for a program that is too long, std::system_error where it can't
  /// be started, which says nothing of the program, and std::runtime_error where what it started
  /// isn't gone 10 s after being killed.
  code_result run(code_request asked);

 private:
  coder_options options_;
  std::unique_ptr<program_user> user_;  // none: this process's
  std::array<metric_counter, 4> ends_;  // by code_end
};

}  // namespace troupe
