#pragma once
// What became of the calls of the load.

#include <cstdint>
#include <exception>
#include <map>
#include <string>

#include "runtime/coroutine/sleep.hpp"

namespace troupe::chaos {

/// The deadline of a call.
inline constexpr std::chrono::seconds hung_after{10};
/// A call that ends later than this after its deadline hung.
inline constexpr std::chrono::seconds grace{2};

/// By the kind of error.
using failure_counts = std::map<std::string, std::int64_t>;

/// Counts one more, of that error's kind, or by its text where it has none.
void note_failure(failure_counts& failed, const std::exception_ptr& error);

/// What became of the requests of one kind.
struct request_count {
  std::int64_t begun = 0, answered = 0, wrong = 0;
  std::int64_t late = 0;  ///< Ended, however, but later than `grace` after their deadline.
  failure_counts failed;
  duration longest{0};

  /// One has ended, `took` after its start: by that error, or answered if it is null.
  void note_end(duration took, duration deadline, const std::exception_ptr& error);
  std::int64_t ended() const;
  /// Those that have not ended, or ended late. Once the load has ended.
  std::int64_t hung() const { return begun - ended() + late; }
  void add(const request_count& other);
};

struct episode_count {
  std::int64_t begun = 0, finished = 0, lost = 0, wrong = 0;
  std::int64_t left = 0;  ///< By the caller, in the middle, since the load was to end.
  failure_counts failed;  ///< By any error but session_lost.

  std::int64_t hung() const;
};

}  // namespace troupe::chaos
