#pragma once
// Threads in addition to those of CAF's pool. Each thread of the pool that is held by a hung actor
// is replaced by one of them. One more, the reserve, runs actors that must not wait until the pool
// has time for them. Internal to runtime/.

#include <caf/actor_system.hpp>
#include <cstddef>
#include <list>
#include <memory>
#include <thread>

namespace troupe::detail {

/// The additional threads of a system. Any thread may call the member functions, except for the
/// constructor and the destructor.
class spare_threads {
 public:
  /// The scheduler of `actors` must be a `thread_pool`.
  explicit spare_threads(caf::actor_system& actors);
  /// Waits until each thread has finished its current job.
  ~spare_threads();
  spare_threads(const spare_threads&) = delete;

  /// Starts a spare thread, because a thread of the pool is stuck.
  void add();
  /// Ends a spare thread after its current job, because a thread of the pool is not stuck any more.
  void remove();

  /// Starts the reserve if it doesn't run yet. It takes urgent jobs when all other threads are
  /// busy.
  void reserve();

 private:
  class worker;
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace troupe::detail
