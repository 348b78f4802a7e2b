#pragma once
// Internal to sandbox/ and coder/: the user that programs which are not trusted run as if this
// process is root's.

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
/// A lock on a file of that number, in a folder that only root can enter, reserves the user. The
/// kernel removes the lock with the process that holds it.
class program_user {
 public:
  /// Takes the first free number from `first` to `last`, and kills the processes that the user
  /// still has. A number is not free if the user database or systemd knows it, or if its processes
  /// can't be ended. Throws std::system_error, and std::runtime_error if no number is free or the
  /// folder is not root's own with mode 0700.
  program_user(uid_t first, uid_t last, const std::string& folder = "/run/troupe-users");
  /// Kills all processes of the user, and releases the number.
  ~program_user();
  program_user(const program_user&) = delete;

  uid_t number() const { return number_; }

  /// Kills all processes of the user and waits until they have ended. Returns the number of those
  /// that are still in the process table 0.1 s later, because their parent doesn't wait for them;
  /// they count towards RLIMIT_NPROC. Throws std::runtime_error if a process has not ended after
  /// 10 s, and std::system_error.
  std::size_t end_processes();

 private:
  std::size_t end_processes_within(std::chrono::seconds limit);

  detail::descriptor lock_;
  uid_t number_ = 0;
  std::size_t never_reaped_ = 0;  // the last result of end_processes()
};

/// While one of these exists, processes whose parent has ended get this process as their parent,
/// and not the first process of the machine, which may take seconds to reap them. Until they are
/// reaped they count towards RLIMIT_NPROC. program_user::end_processes() reaps those of its user.
class parent_of_orphans {
 public:
  parent_of_orphans();
  ~parent_of_orphans();
  parent_of_orphans(const parent_of_orphans&) = delete;
};

/// Makes a child between vfork and exec become this user, with only the user's own group and
/// without capabilities.
void become_user(const detail::exec_report& report, uid_t user);

/// Runs `become` like detail::start_child(). The kernel forbids debuggers and core files for a
/// process whose user changes. A child shares that state with this process until exec, so it is
/// restored afterwards.
pid_t start_as_user(void (*become)(const void* plan, detail::exec_report report), const void* plan,
                    int namespaces = 0);

}  // namespace troupe
