#pragma once
// Simulates turns that take time, for systems that run in virtual time. Internal to runtime/.

#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/resumable.hpp>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/actor/clock.hpp"
#include "runtime/actor/turn_order.hpp"

namespace troupe::detail {

/// Bounds the number of turns of a simulated process that may take time at once. A turn that takes
/// no time needs a free thread, too.
struct simulated_pool : std::enable_shared_from_this<simulated_pool> {
  explicit simulated_pool(std::size_t threads) : threads(threads) {}
  std::size_t threads;
  std::size_t held = 0;  ///< Threads that are held by turns that take time.
  std::ptrdiff_t stuck =
      0;                  ///< Threads that hang in replicas that were given up; see spare_threads.
  std::size_t spare = 0;  ///< Threads that were added for those.
  std::size_t more = 0;   ///< Threads that were added because turns took long; see pool_watch.
  time_point full_since{};   ///< Since when each thread is held, while `full`.
  bool look_is_due = false;  ///< True while the clock is set to look at the pool.
  bool full() const noexcept { return held >= threads + spare + more; }
};

/// Runs the jobs of a deterministic system in which some turns take time. Such a turn runs on a
/// thread of its own, so that it can pause in the middle of a role's code while other actors have
/// their turns. Only one thread runs at any moment, and the next one is drawn from the seed. Only
/// the thread that runs the system may use it.
class simulated_threads {
 public:
  simulated_threads(caf::actor_system& actors, virtual_clock& clock);
  /// No turn may be paused any more.
  ~simulated_threads();
  simulated_threads(const simulated_threads&) = delete;

  /// Runs the next job, or continues a paused turn whose time is over. Returns false if there is
  /// none.
  bool step(turn_order& order);
  /// Makes the running turn take `time` longer. Returns false if the turn can't pause.
  bool hold(duration time);

  /// Actors that are made within the scope share the threads of `pool`, and so do the actors that
  /// they make.
  class scope {
   public:
    scope(simulated_threads& in, std::shared_ptr<simulated_pool> pool)
        : in_(in), before_(std::exchange(in.of_new_, std::move(pool))) {}
    scope(const scope&) = delete;
    ~scope() { in_.of_new_ = before_; }

   private:
    simulated_threads& in_;
    std::shared_ptr<simulated_pool> before_;
  };
  /// Returns the threads of an actor that is made now; null if their number is not limited.
  std::shared_ptr<simulated_pool> of_new_actor() const;
  /// Limits the threads of actors that no scope is for.
  void limit(std::size_t threads) { of_others_ = std::make_shared<simulated_pool>(threads); }

  // What spare_threads and pool_watch do, with threads that may be refused by check_scarcity.
  void hangs(simulated_pool& in) noexcept;
  void came_back(simulated_pool& in) noexcept;

 private:
  struct thread;
  class unit;

  void run_on_a_thread(caf::resumable* job);
  void run_until_pause(thread& which);
  void run(caf::resumable* job);
  void work(thread& mine);
  void add_spare(simulated_pool& to) noexcept;
  void look_later(simulated_pool& at, duration after);
  void look(simulated_pool& at);

  virtual_clock& clock_;
  std::deque<caf::resumable*>& jobs_;
  std::unique_ptr<unit> unit_;
  std::shared_ptr<simulated_pool> of_new_;
  std::shared_ptr<simulated_pool> of_others_;
  std::mutex mutex_;
  std::condition_variable back_;  ///< Notified when the thread that runs the system may go on.
  thread* running_ = nullptr;     ///< Null while the thread that runs the system runs.
  std::vector<std::unique_ptr<thread>> threads_;
  std::vector<thread*> idle_;
  /// Jobs whose pauses are over and that are not in the turn order yet.
  std::vector<caf::resumable*> rested_;
  std::map<caf::resumable*, thread*> paused_in_;  ///< The threads of paused turns, by their jobs.
  bool stops_ = false;
};

}  // namespace troupe::detail
