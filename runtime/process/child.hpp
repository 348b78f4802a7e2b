#pragma once
// Child processes, each with a link to the running program. One thread, the keeper's, starts
// them and is told how they end. No child outlives this process: the kernel kills them when this
// process dies, and they exit when their link ends. Internal to runtime/.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "runtime/process/child_end.hpp"
#include "runtime/process/spawn.hpp"
#include "runtime/remote/link.hpp"

namespace troupe::detail {

struct child_state;

/// One child process.
class child {
 public:
  /// Called once when the child has ended and is reaped, on a thread that all children share, even
  /// if the child object is gone.
  using on_end = std::function<void(const child_end&)>;

  /// Starts the child and blocks until it executes its program. Throws std::system_error.
  explicit child(const child_options& options, on_end told = {});
  /// Closes the link, and kills the process if it is still alive after `grace`. Doesn't wait.
  ~child();
  child(const child&) = delete;

  pid_t pid() const;
  /// The link to the child. It ends with the child, and its reason says how the child ended. Open
  /// it once.
  std::shared_ptr<link> way() const;
  /// Sends SIGKILL. Messages that the child had sent still arrive.
  void kill();

  static constexpr std::chrono::milliseconds grace{500};

 private:
  const std::shared_ptr<child_state> state_;
};

/// Returns the link to the parent in a child process, and null in any other process. When the link
/// closes, other than by this side, the process exits with code 0 after the listener has been told.
/// Call it first in main, before other threads read the environment. Throws std::runtime_error if
/// TROUPE_CHILD was set by somebody else.
std::shared_ptr<link> link_to_parent();

}  // namespace troupe::detail
