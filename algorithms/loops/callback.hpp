#pragma once
// The function type of callbacks, and the progress that loops pass to them. callbacks.hpp has
// callbacks to combine.

#include <cstdint>
#include <functional>

#include "runtime/coroutine/task.hpp"

namespace troupe::loops {

/// How far a loop has come at the end of an update.
struct progress {
  std::int64_t updates = 0;          ///< The number of updates, this one included.
  std::int64_t steps = 0;            ///< Environment steps trained on, as hooks::steps counts them.
  std::int64_t steps_of_update = 0;  ///< The environment steps of this update.
  std::int64_t episodes = 0;  ///< Episodes generated; in async mode some wait to be trained on.
  std::int64_t version = 0;   ///< The version of the weights in use.
  double seconds = 0;         ///< Seconds since the loop began.
};

/// The answer of a callback to a loop.
enum class verdict {
  go_on,
  stop,  ///< The loop returns; episodes under way are cancelled.
};

/// A function that a loop calls after each update, on the loop's own actor. The loop waits for the
/// answer; episodes of an asynchronous loop go on meanwhile. An exception of the callback ends the
/// loop, which throws it.
///
///   task<verdict> my_own(state& s, progress now);
///   callback mine = [&s](progress now) { return my_own(s, now); };   // s outlives the loop
using callback = std::function<task<verdict>(progress)>;

}  // namespace troupe::loops
