#pragma once
// The role that runs Python programs which a language model has written, with limits but without a
// sandbox, for machines that can't make one. Use sandboxed_python elsewhere.

#include <cstdint>
#include <memory>
#include <string>

#include "actors/sandbox/code_counters.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe {

class program_user;

struct coder_options {
  /// Must be true, since there is no sandbox; see coder.
  bool allow_unsandboxed = false;
  /// memory_bytes is here the address space of each process. More than one process requires a user
  /// of its own; see coder. The files are counted when the program has ended; until then only
  /// wall_s limits what it writes.
  code_limits limits = {};
  std::string python = "/usr/bin/python3";
  /// The range of user numbers for programs, if this process is root's. Each coder takes two that
  /// are free, an even one and the next. systemd uses those from 61184 to 65519 for services that
  /// get a user when they start.
  std::uint32_t first_user = 61'184;
  std::uint32_t last_user = 65'519;
};

/// Runs each program in a process of its own, which has ended when the call returns. The program
/// has the limits above, no environment variables, no core file and no descriptor of this process.
/// It runs in an empty folder, which is removed afterwards.
///
/// If this process is root's, a coder has a user of its own, which no other coder on the machine
/// has: it holds a lock on the number in /run/troupe-users. All processes of this user are killed
/// before a program starts and after it has ended, in any session or process group. If this process
/// is not root's, programs run as its user and can't start processes or threads.
///
/// This is no sandbox. A program can:
/// - read what every user of the machine can read, such as other users' files of mode 0644 and the
///   command lines of all processes;
/// - leave files outside of its folder where every user can (/tmp, /dev/shm). Nothing removes these
///   files, and a later program of the same coder can read them;
/// - open sockets, and so reach the network and the services of this machine;
/// - fill the disk until `wall_s` is over, and use `processes` times `memory_bytes` of memory.
/// A program that runs as the user of this process can also read and write that user's files, read
/// the environment of that user's processes in /proc, write their memory unless the kernel forbids
/// it (Yama), and send signals to them, this process included.
///
/// A call blocks its thread until the program has ended, so a coder must be served with
/// placement::thread.
class coder {
 public:
  /// Throws std::invalid_argument unless `allow_unsandboxed` is true, for limits below 1 or not
  /// finite, for several processes without a user of its own, and for users below 1000. Throws
  /// std::system_error if there is no interpreter, and std::system_error or std::runtime_error if
  /// no user can be taken. If `metrics` is not null, troupe_code_runs_total{end} counts programs by
  /// how they ended.
  explicit coder(coder_options options, metrics_registry* metrics = nullptr);
  ~coder();

  /// Runs a program. Throws std::invalid_argument for a program that is too long, std::system_error
  /// if the interpreter can't be started, and std::runtime_error if the program's processes have
  /// not ended 10 s after they were killed.
  code_result run(code_request asked);

 private:
  coder_options options_;
  std::unique_ptr<program_user> user_;  // null if programs run as this process's user
  code_counters ends_;
};

}  // namespace troupe
