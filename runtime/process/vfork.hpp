#pragma once
// Internal to whoever starts programs: a child between vfork and exec. It borrows this process's
// memory meanwhile, so it calls async-signal-safe functions alone and allocates nothing; all that
// it needs is made before.

#include <sys/types.h>

namespace troupe::detail {

/// How a child that can't become its program says so; exec closes it.
class exec_report {
 public:
  explicit exec_report(int pipe) : pipe_(pipe) {}

  /// A call's result; below 0 the parent is told errno and what could not be done, and the child
  /// ends.
  int need(int result, const char* action) const;
  [[noreturn]] void fail(const char* action) const;

  /// Lets go of its number and takes one that is free from this one on, or exactly this one.
  void move_from(int number);
  void move_to(int number);

 private:
  int pipe_;
};

/// Every signal does what it does by default, and none is blocked.
void reset_signals();

/// Runs `become` in a child, which execs or reports, and waits for that. Throws std::system_error
/// saying what the child could not do.
pid_t start_child(void (*become)(const void* plan, exec_report report), const void* plan);

}  // namespace troupe::detail
