#pragma once
// Starts a child between vfork and exec; used by code that starts programs. The child borrows this
// process's memory meanwhile, so it calls only async-signal-safe functions and allocates nothing;
// everything that it needs is made before. Internal to runtime/.

#include <sys/types.h>

namespace troupe::detail {

/// Reports that a child can't become its program. exec closes the pipe.
class exec_report {
 public:
  explicit exec_report(int pipe) : pipe_(pipe) {}

  /// Checks a call's result. If it is below 0, the parent is told errno and what could not be done,
  /// and the child ends.
  int need(int result, const char* action) const;
  [[noreturn]] void fail(const char* action) const;
  /// False if the parent has died meanwhile.
  bool is_awaited() const;

  /// Moves the pipe to the lowest free number from `number` on.
  void move_from(int number);
  /// Moves the pipe to exactly this number.
  void move_to(int number);

 private:
  int pipe_;
};

/// Makes the kernel choose a child before its parent when memory is short.
void volunteer_for_oom();

/// Gives every signal its default action and unblocks all signals.
void reset_signals();

/// Runs `become` in a child, which execs or reports a failure, and waits for that. `namespaces` are
/// those that the child begins in place of this process's, as flags of clone(2) such as
/// CLONE_NEWNS. Throws a std::system_error that says what the child could not do.
pid_t start_child(void (*become)(const void* plan, exec_report report), const void* plan,
                  int namespaces = 0);

}  // namespace troupe::detail
