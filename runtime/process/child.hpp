#pragma once
// Child processes of the program that runs, each with a link to it. A thread of its own, the
// keeper's, starts them and hears how they end. None outlives this process: the kernel kills them
// when it dies, and they end themselves when their link does.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "runtime/process/spawn.hpp"
#include "runtime/remote/link.hpp"

namespace troupe::detail {

/// How a child ended.
struct child_end {
  bool killed = false;  ///< By a signal; else it has exited.
  int code = 0;         ///< The signal, or the exit code.
  std::string why;      ///< "was killed by signal 11 (Segmentation fault)"
};

struct child_state;

/// One child process.
class child {
 public:
  /// Told once that it has ended and is reaped, on a thread that all children share, also when the
  /// child object is gone.
  using on_end = std::function<void(const child_end&)>;

  /// Starts it; blocks until it executes its program. Throws std::system_error.
  explicit child(const child_options& options, on_end told = {});
  /// Closes the link, and kills the process if it lives for `grace` after that. Does not wait.
  ~child();
  child(const child&) = delete;

  pid_t pid() const;
  /// The way to it. It ends with the child, and its reason says how that ended. To be opened once.
  std::shared_ptr<link> way() const;
  /// SIGKILL. What the child had sent still comes.
  void kill();

  static constexpr std::chrono::milliseconds grace{500};

 private:
  const std::shared_ptr<child_state> state_;
};

/// In a child, the link to its parent; when it closes, other than by this side, the process exits
/// with code 0 after the listener has heard it. Null in any other process. To be called first in
/// main, before there are other threads that read the environment. Throws std::runtime_error if
/// TROUPE_CHILD was set by somebody else.
std::shared_ptr<link> link_to_parent();

}  // namespace troupe::detail
