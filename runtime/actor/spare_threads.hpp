#pragma once
// Threads beside those of CAF's pool: one for each of these that a hung actor holds, so that
// everybody else goes on, and one for actors that must not wait until the pool has time for them.
// Internal to runtime/.

#include <caf/actor_system.hpp>
#include <cstddef>
#include <list>
#include <memory>
#include <thread>

namespace troupe::detail {

/// Any thread, but for construction and destruction.
class spare_threads {
 public:
  /// The system's scheduler is a `thread_pool`.
  explicit spare_threads(caf::actor_system& actors);
  /// Waits until each has finished the job that it is at.
  ~spare_threads();
  spare_threads(const spare_threads&) = delete;

  /// A thread of the pool is stuck.
  void add();
  /// One is back: a spare thread ends when it has finished its job.
  void remove();

  /// Starts the reserve, a thread that takes urgent jobs where all others are busy, if there is
  /// none yet.
  void reserve();

 private:
  class worker;
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace troupe::detail
