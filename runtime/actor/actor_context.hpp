#pragma once
// What the actors of one system share: its clock, its threads and its random numbers. Internal to
// runtime/.

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <unordered_map>

#include "runtime/actor/clock.hpp"
#include "runtime/actor/own_threads.hpp"
#include "runtime/actor/pool_watch.hpp"
#include "runtime/actor/simulated_threads.hpp"
#include "runtime/actor/spare_threads.hpp"
#include "runtime/actor/turn_order.hpp"

namespace troupe {

class trace;

namespace detail {

struct actor_options {
  std::size_t threads = 0;     ///< The threads of the pool; 0 means one for each core.
  bool deterministic = false;  ///< Everything happens in virtual time, in an order from `seed`.
  std::uint64_t seed = 0;
  duration long_turn = std::chrono::seconds(10);  ///< See `pool_findings::in_long_turns`.
  std::shared_ptr<class trace> trace;             ///< Null where nothing is traced.
};

/// The floor of a system that its actors stand on. Each floor above it adds what its classes share:
/// `replica_context`, `service_context`, `remote_context`, and `system_core` at the top.
class actor_context {
 public:
  explicit actor_context(const actor_options& options);
  actor_context(const actor_context&) = delete;

  caf::actor_system& actors() noexcept { return *actors_; }
  class clock& clock() noexcept { return *clock_; }
  /// Null if nothing is traced.
  class trace* trace() noexcept { return options_.trace.get(); }
  bool deterministic() const noexcept { return options_.deterministic; }
  /// The time after which a turn is long.
  duration long_turn() const noexcept { return options_.long_turn; }
  /// The key of a new actor's random numbers. In a deterministic system actors of one name have
  /// different keys.
  std::uint64_t key_of(std::string_view name);
  /// In a deterministic system: time passes during this turn. Other actors have their turns
  /// meanwhile if this one can pause.
  void spend(duration time);
  /// The threads of a deterministic system in which turns may take time; otherwise null.
  simulated_threads* threads_in_virtual_time() noexcept { return virtual_threads_.get(); }
  /// True if a replica may be busy for long while others go on. In virtual time no turn takes time,
  /// unless that is simulated.
  bool turns_take_time() const noexcept { return !deterministic() || virtual_threads_; }

  /// A thread of the pool is stuck in a role's code: another thread takes its place until it is
  /// back. In a deterministic system `in` is the pool that it belongs to, and may be null.
  void thread_hangs(simulated_pool* in) noexcept;
  /// Removes the added thread, because the stuck thread is back.
  void thread_came_back(simulated_pool* in);
  /// The threads of the pool that are stuck in replicas which were given up.
  std::size_t hanging_threads() const;
  /// The number of threads that the pool began with.
  std::size_t pool_threads() const { return actors_->scheduler().num_workers(); }
  /// What is known of the pool's threads; null in a deterministic system.
  std::shared_ptr<const pool_findings> findings_of_pool() const noexcept;

  /// Counts the threads that actors have of their own.
  const std::shared_ptr<class own_threads>& own_threads() noexcept { return own_threads_; }

  /// Requested when the system begins to end.
  std::stop_source& end_request() noexcept { return end_request_; }

  void host_started();
  void host_ended();
  /// The number of actors that were started and have not ended.
  std::size_t hosts() const;

 protected:
  ~actor_context();

  // These have no effect in a deterministic system.
  /// Begins to watch the pool. `looked` is called on the clock's thread, until `unwatch_pool`
  /// returns.
  void watch_pool(std::function<void()> looked);
  void unwatch_pool();
  /// In a deterministic system: turns take time from here on.
  void simulate_threads();
  /// In a deterministic system: runs the next turn, or advances the time to the next alarm. False
  /// if there is neither.
  bool step_deterministic();
  /// Returns when every actor has ended, or false at `limit`. Not in a deterministic system.
  bool all_ended_by(std::chrono::steady_clock::time_point limit);
  /// Rings no alarm any more, and waits for the actors' own threads. False if they did not end by
  /// `limit`.
  bool stop_clock(std::chrono::steady_clock::time_point limit);
  /// Ends the threads, then the actor system. Every actor has ended.
  void end_threads();

 private:
  const actor_options options_;
  std::unique_ptr<class clock> clock_;
  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> actors_;
  std::unique_ptr<simulated_threads> virtual_threads_;
  // These two are null in a deterministic system.
  std::unique_ptr<spare_threads> spares_;
  std::shared_ptr<pool_watch> pool_watch_;
  turn_order order_;  ///< Used in a deterministic system only.
  const std::shared_ptr<class own_threads> own_threads_ = std::make_shared<class own_threads>();
  std::stop_source end_request_;
  mutable std::mutex mutex_;
  std::condition_variable hosts_changed_;
  std::size_t hosts_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> named_;  ///< The actors that each key was given.
};

}  // namespace detail
}  // namespace troupe
