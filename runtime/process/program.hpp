#pragma once
// A foreign program that this process starts and talks to by a socket and shared memory. It does
// not outlive this process. Internal to Troupe.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/base/descriptor.hpp"
#include "runtime/process/child_end.hpp"
#include "runtime/process/spawn.hpp"

namespace troupe::detail {

/// A running program. It has a stream socket to this process as inherited_socket and shared memory
/// as inherited_memory. Its process group is killed when it ends.
class program {
 public:
  /// Called with each line of its standard output and error, cut at line_bytes_max, on a thread
  /// that must not be blocked.
  using on_line = std::function<void(const std::string& line)>;
  static constexpr std::size_t line_bytes_max = 4096;

  /// Starts the program that `options` names. Throws std::system_error.
  program(const child_options& options, const descriptor& memory, on_line told);
  /// Closes the socket, and kills the process if it is still alive half a second later. Doesn't
  /// wait.
  ~program();
  program(const program&) = delete;

  pid_t pid() const;
  /// This process's end of the socket, which does not block.
  int socket() const;
  /// Returns how the program ended. Waits for that for a moment, as its socket closes a moment
  /// earlier. Returns nullopt if it hasn't ended.
  std::optional<std::string> end() const;
  /// Returns the end of its output, at most log_bytes_max.
  std::string log() const;
  static constexpr std::size_t log_bytes_max = 4096;
  /// Ends all reading and writing of the socket, so that a wait for it ends, too. Any thread may
  /// call it.
  void hang_up();
  /// Kills the process.
  void kill();
  /// Sends a signal to the process, unless it has ended.
  void send_signal(int number);

 private:
  struct state;
  class output;
  const std::shared_ptr<state> state_;
  const std::shared_ptr<output> output_;
};

}  // namespace troupe::detail
