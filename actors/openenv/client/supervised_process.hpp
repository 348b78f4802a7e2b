#pragma once
// Internal to this folder: runs a foreign program that does not outlive this process, however it
// ends.

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/descriptor.hpp"

namespace troupe::openenv {

class io_thread;

/// A program to run.
struct program {
  std::vector<std::string> command;      ///< The command, found on PATH. Every user can read it.
  std::vector<std::string> environment;  ///< "NAME=value", added to this process's own.
  std::string directory;                 ///< The working directory; empty means this one.
  std::string file = "";                 ///< The text that it can read at file_path; empty: none.
  std::string cleanup;  ///< Shell commands that run when the program has ended; may be empty.

  static constexpr const char* file_path = "/dev/fd/3";
};

/// Runs a program under a supervising shell. The shell starts the program in a process group of its
/// own and waits until this process closes a pipe, which also happens if this process dies, even by
/// SIGKILL. Then it ends the whole group with SIGTERM, a second later with SIGKILL, and runs the
/// cleanup commands.
class supervised_process {
 public:
  /// Starts the program. Throws std::system_error.
  supervised_process(std::shared_ptr<io_thread> thread, const program& what);
  /// Ends the program and waits for that, about a second at most plus the time of the cleanup.
  ~supervised_process();
  supervised_process(const supervised_process&) = delete;

  /// Returns whether the program and its children have closed their output, which means that they
  /// have ended.
  bool ended() const;
  /// Returns the last lines of the output, at most log_bytes_max. The very last line says the exit
  /// code.
  std::string log() const;
  static constexpr std::size_t log_bytes_max = 16 << 10;

 private:
  class reader;
  const std::shared_ptr<io_thread> thread_;
  std::shared_ptr<reader> reader_;
  troupe::detail::descriptor life_;  ///< The end of the pipe that keeps the program running.
  int pid_ = -1;                     ///< The process id of the shell.
};

}  // namespace troupe::openenv
