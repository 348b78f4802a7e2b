#pragma once
// Processes that this process has started: one thread starts them, notices their ends and has them
// reaped. Internal to runtime/.

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/base/descriptor.hpp"
#include "runtime/net/event_loop.hpp"
#include "runtime/process/child_end.hpp"

namespace troupe::detail {

/// A process that this process has started.
class kept_process : public event_loop::handler, public std::enable_shared_from_this<kept_process> {
 public:
  using on_end = std::function<void(const child_end&)>;
  /// The time that a process has to end by itself before it is killed.
  static constexpr std::chrono::milliseconds grace{500};

  /// `told` is called once when the process has ended and is reaped, on a thread that all processes
  /// share. It may be null.
  explicit kept_process(on_end told) : told_(std::move(told)) {}

  /// Has the keeper's thread call `spawn`, and returns when the process executes its program. The
  /// kernel kills the process when that thread ends, which lives as long as this process. Throws
  /// what `spawn` throws.
  void start(const std::function<pid_t()>& spawn);
  pid_t pid() const { return pid_; }
  /// Sends SIGKILL to the process.
  void kill();
  /// Sends another signal to the process, unless it has ended.
  void send_signal(int number);
  /// Kills it if it is still alive after `grace`. Doesn't wait.
  void kill_later();

  /// Called on the keeper's thread when the process may have ended.
  void ready(std::uint32_t events) override;

 protected:
  /// Called on the keeper's thread when the process has ended, before it is reaped.
  virtual void ended(const std::string& why) = 0;
  /// Asks the process to end, because this program ends.
  virtual void let_go() = 0;

 private:
  friend class keeper;
  /// Reaps the process after its end, and kills what it has started. Called on the reaper's thread.
  void reap();

  on_end told_;
  pid_t pid_ = 0;
  std::mutex mutex_;
  descriptor process_;  // The pidfd, until the process is reaped.
  event_loop::key watched_ = 0;
  bool killed_ = false;
  std::optional<child_end> end_;
};

/// Ends the processes that this one has started and everything in their process groups: asks them
/// to end, kills them after kept_process::grace, and waits for that, at most a few seconds. For
/// programs that end without destructors, which else leave behind what those processes started.
void end_kept_processes();

}  // namespace troupe::detail
