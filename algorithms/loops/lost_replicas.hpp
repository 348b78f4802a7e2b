#pragma once
// Counts the replicas of environments that an episode function loses.

#include <fmt/format.h>

#include "algorithms/loops/loops.hpp"
#include "runtime/base/error.hpp"

namespace troupe::loops {

/// The replicas that were lost in a row. What an episode function does next is to open another
/// session, until so many were lost that no other attempt would help.
class lost_replicas {
 public:
  /// Counts the loss that is being handled. Rethrows an error that is none, and throws
  /// lasting_error after `most` losses in a row.
  void add(const call_error& error) {
    if (error.kind() != error_kind::session_lost) throw;
    if (++count_ < most) return;
    throw lasting_error(fmt::format("{} replicas of the environments were lost in a row: {}",
                                    count_, error.what()));
  }
  /// A replica has done its work.
  void reset() { count_ = 0; }

 private:
  static constexpr int most = 20;
  int count_ = 0;
};

}  // namespace troupe::loops
