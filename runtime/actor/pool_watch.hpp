#pragma once
// Watches whether the threads of a pool still take jobs, and adds threads where they don't.
// Internal to runtime/.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/actor/clock.hpp"
#include "runtime/actor/spare_threads.hpp"
#include "runtime/actor/thread_pool.hpp"
#include "runtime/actor/turn_count.hpp"

namespace troupe::detail {

/// What was found when the pool was looked at last. Any thread may read it.
struct pool_findings {
  std::atomic<std::size_t> threads{0};  ///< Threads that run actors, spare ones included.
  /// Threads that have been in one turn for `actor_options::long_turn` or longer.
  std::atomic<std::size_t> in_long_turns{0};
  std::atomic<duration::rep> looked{0};  ///< The time of the last look, in ticks of the clock.
  /// The time since which an actor whose turns are reserved or assured waits and no thread takes
  /// any job; 0 if there is none.
  std::atomic<duration::rep> stalled_since{0};
};

/// Looks at the threads of a pool twice a second, on the clock's thread, which runs no role.
///
/// If every thread has been in one turn for `replace_after` while jobs wait, a spare thread is
/// added, one at each look. It ends when a thread has come back. A long turn is not an error, so
/// nothing is abandoned. The number of spare threads has a bound, `spare_threads::threads_max`.
class pool_watch : public std::enable_shared_from_this<pool_watch> {
 public:
  static constexpr duration look_every = std::chrono::milliseconds(500);
  static constexpr duration replace_after = std::chrono::seconds(1);

  pool_watch(class clock& clock, thread_pool& pool, spare_threads& spares, duration long_turn);

  /// Begins to look, and calls `looked` on the clock's thread after each look. The clock must stop
  /// before anything ends that is used.
  void begin(std::function<void()> looked);
  /// Has `looked` called no more, once this returns.
  void end();
  const std::shared_ptr<const pool_findings>& findings() const noexcept { return told_; }

 private:
  void look();
  void look_later();
  std::vector<duration> present_turns(time_point now);

  class clock& clock_;
  thread_pool& pool_;
  spare_threads& spares_;
  const duration long_turn_;
  std::vector<turn_sighting> pooled_;  ///< One for each thread of the pool.
  std::uint64_t taken_ = 0;            ///< The jobs that were taken until the last look.
  bool enough_ = true;                 ///< False while a thread is needed and can't be had.
  const std::shared_ptr<pool_findings> findings_ = std::make_shared<pool_findings>();
  const std::shared_ptr<const pool_findings> told_ = findings_;
  std::mutex mutex_;  ///< Held while `looked_` is called.
  std::function<void()> looked_;
};

}  // namespace troupe::detail
