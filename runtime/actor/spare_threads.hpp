#pragma once
// Threads in addition to those of CAF's pool. Each thread of the pool that a turn holds for long
// may be replaced by one of them. One more, the reserve, runs actors that must not wait until the
// pool has time for them. Internal to runtime/.

#include <caf/actor_system.hpp>
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/coroutine/strand.hpp"

namespace troupe::detail {

/// The additional threads of a system. Any thread may call the member functions, except for the
/// constructor and the destructor.
///
/// A thread that can't be made is tried again at the next call of `replace`.
class spare_threads {
 public:
  /// The most spare threads at one time. A service whose replicas hold more of them goes down.
  static constexpr std::size_t threads_max = 64;

  /// Starts the reserve, which takes urgent jobs when all other threads are busy. The scheduler of
  /// `actors` must be a `thread_pool`. Throws std::system_error if the reserve can't be made.
  explicit spare_threads(caf::actor_system& actors);
  /// Waits until each thread has finished its current job.
  ~spare_threads();
  spare_threads(const spare_threads&) = delete;

  /// A thread of the pool hangs in a replica that was given up: a spare thread replaces it until
  /// `came_back`.
  void hangs() noexcept;
  void came_back() noexcept;
  /// The threads that hang and have not come back.
  std::size_t hanging() const;

  /// Of all threads, `held` are in long turns. Ends the spare threads that replace none of these,
  /// and adds one if `one_more` says so. Returns false if one more is needed and can't be had. Only
  /// one thread may call it.
  bool replace(std::size_t held, bool one_more);
  /// Adds the time for which each spare thread was seen in its present turn. The thread that calls
  /// `replace` may call it.
  void look(time_point now, std::vector<duration>& to);

 private:
  class worker;
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace troupe::detail
