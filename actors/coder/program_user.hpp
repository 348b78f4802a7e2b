#pragma once
// Internal to coder/: the user that a coder's programs run as, where this process is root's.

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>

#include "runtime/base/descriptor.hpp"
#include "runtime/process/vfork.hpp"

namespace troupe {

/// A user that no other coder on this machine has: a number, which needs no entry in the user
/// database. It is an even number, and the odd one after it is reserved with it, for the process
/// that kills what the user's programs have left.
///
/// What is taken is locked by a file of that number in a folder that only root can enter. The
/// kernel removes the lock with the process that holds it.
class program_user {
 public:
  /// Takes the first that is free from `first` to `last`, and kills what it still has. A number is
  /// not free if the user database or systemd knows it, or if what it still has doesn't end. Throws
  /// std::system_error, or std::runtime_error where there is none or the folder is not root's own
  /// with mode 0700.
  program_user(uid_t first, uid_t last, const std::string& folder = "/run/troupe-users");
  /// Kills all processes of the user, and gives it back.
  ~program_user();
  program_user(const program_user&) = delete;

  uid_t number() const { return number_; }

  /// Kills all processes of the user and returns when they have ended. Returns how many of them are
  /// still in the process table 0.1 s later, because their parent doesn't wait for them: those
  /// count to RLIMIT_NPROC. Throws std::runtime_error for processes that haven't ended after 10 s,
  /// and std::system_error.
  std::size_t end_processes();

 private:
  std::size_t end_processes_within(std::chrono::seconds limit);

  detail::descriptor lock_;
  uid_t number_ = 0;
  std::size_t never_reaped_ = 0;  // of end_processes() the last time
};

/// For a child between vfork and exec: it becomes this user, in its group alone and without
/// capabilities.
void become_user(const detail::exec_report& report, uid_t user);

/// Runs `become` as detail::start_child() does. The kernel keeps debuggers and core files from a
/// process whose user changes, and a child shares that state with this process until exec, so it is
/// set back afterwards.
pid_t start_as_user(void (*become)(const void* plan, detail::exec_report report), const void* plan);

}  // namespace troupe
