#pragma once

#include <cstdint>
#include <functional>

#include "runtime/coroutine/task.hpp"

namespace troupe::loops {

/// How far a loop has come, when an update has ended.
struct progress {
  std::int64_t updates = 0;          ///< Done, this one included.
  std::int64_t steps = 0;            ///< Environment steps trained on, as hooks::steps counts them.
  std::int64_t steps_of_update = 0;  ///< Those of this update.
  std::int64_t episodes = 0;         ///< Generated; in async mode some wait to be trained on.
  std::int64_t version = 0;          ///< Of the weights that are in use now.
  double seconds = 0;                ///< Since the loop began.
};

/// What a callback has a loop do.
enum class verdict {
  go_on,
  stop,  ///< The loop returns; episodes under way are cancelled.
};

/// Asked by a loop after each update, which waits for the answer; episodes of an asynchronous loop
/// go on meanwhile. What it throws ends the loop and is thrown there. Runs on the loop's own actor.
///
///   task<verdict> my_own(state& s, progress now);
///   callback called = [&s](progress now) { return my_own(s, now); };   // s outlives the loop
using callback = std::function<task<verdict>(progress)>;

}  // namespace troupe::loops
