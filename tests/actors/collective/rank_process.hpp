#pragma once
// Another rank in a process of its own: this very executable, started again to run one of its
// hidden test cases.

#include <sys/types.h>

#include <chrono>
#include <string>

#include "actors/collective/gloo_collective.hpp"

namespace troupe {

/// Killed and reaped when it goes.
class rank_process {
 public:
  /// Runs the test case of that name, which asks rank_of_this_process who it is. What it prints is
  /// appended to `where.file` + ".log". Throws std::system_error.
  rank_process(const std::string& test_case, const gloo_rendezvous& where);
  ~rank_process();
  rank_process(const rank_process&) = delete;
  rank_process& operator=(const rank_process&) = delete;

  void kill();
  /// Its exit status, 128 + N if signal N ended it. Throws std::runtime_error if it has not ended
  /// by then.
  int wait(std::chrono::seconds limit);

 private:
  pid_t pid_ = 0;  ///< 0: reaped
};

/// In the process that a rank_process started; dies with the one that did.
gloo_rendezvous rank_of_this_process();

}  // namespace troupe
