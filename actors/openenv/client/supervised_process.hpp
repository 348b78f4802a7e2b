#pragma once
// Internal to this folder: a foreign program that does not outlive this process, however it ends.

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/descriptor.hpp"

namespace troupe::openenv {

class io_thread;

struct program {
  std::vector<std::string> command;      ///< Found on PATH. Every user can read it.
  std::vector<std::string> environment;  ///< "NAME=value", beside this process's.
  std::string directory;                 ///< Where it runs; empty: here.
  std::string file = "";                 ///< What it can read at file_path; empty: no such file.
  std::string cleanup;  ///< Shell commands, run once it has ended or is to; may be empty.

  static constexpr const char* file_path = "/dev/fd/3";
};

/// A shell stands between: it starts the program in a process group of its own, waits until this
/// process lets go of a pipe, which it also does by dying (SIGKILL included), and then ends the
/// whole group: SIGTERM, a second later SIGKILL, then the cleanup command.
class supervised_process {
 public:
  /// Throws std::system_error.
  supervised_process(std::shared_ptr<io_thread> thread, const program& what);
  /// Ends it, and waits for that: about a second at most, and as long as the cleanup takes.
  ~supervised_process();
  supervised_process(const supervised_process&) = delete;

  /// Whether it, and what it has started, have closed their output: they have ended.
  bool ended() const;
  /// The last lines that it has written, at most log_bytes_max; the last of all says its exit code.
  std::string log() const;
  static constexpr std::size_t log_bytes_max = 16 << 10;

 private:
  class reader;
  const std::shared_ptr<io_thread> thread_;
  std::shared_ptr<reader> reader_;
  troupe::detail::descriptor life_;  ///< The end of the pipe that keeps it alive.
  int pid_ = -1;                     ///< The shell's.
};

}  // namespace troupe::openenv
