#pragma once
// Turns that take time, in virtual time. Internal to runtime/.

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

/// How many turns of a simulated process may take time at once. A turn that takes none needs a free
/// thread, too.
struct simulated_pool {
  explicit simulated_pool(std::size_t threads) : threads(threads) {}
  std::size_t threads;
  std::size_t held = 0;   ///< By turns that take time.
  std::size_t spare = 0;  ///< Threads that were added because others are stuck.
  bool full() const noexcept { return held >= threads + spare; }
};

/// The jobs of a deterministic system some of whose turns take time. Such a turn runs on a thread
/// of its own, so that it can pause in the middle of a role's code while others have their turns.
/// Only one thread runs at any moment, and who is next is drawn from the seed. For the thread that
/// runs the system.
class simulated_threads {
 public:
  simulated_threads(caf::actor_system& actors, virtual_clock& clock);
  /// No turn is paused any more.
  ~simulated_threads();
  simulated_threads(const simulated_threads&) = delete;

  /// Runs the next job, or goes on with a paused turn whose time is over. False if there is none.
  bool step(turn_order& order);
  /// In a turn: it takes that much longer. False if it can't pause.
  bool hold(duration time);

  /// Actors that are made in the scope share these threads, as do those that they make.
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
  /// Those of an actor that is made now; null: they have no limit.
  std::shared_ptr<simulated_pool> of_new_actor() const;

 private:
  struct thread;
  class unit;

  void run_on_a_thread(caf::resumable* job);
  void run_until_pause(thread& which);
  void run(caf::resumable* job);
  void work(thread& mine);

  virtual_clock& clock_;
  std::deque<caf::resumable*>& jobs_;
  std::unique_ptr<unit> unit_;
  std::shared_ptr<simulated_pool> of_new_;
  std::mutex mutex_;
  std::condition_variable back_;  ///< The thread that runs the system goes on.
  thread* running_ = nullptr;     ///< Null: that one runs.
  std::vector<std::unique_ptr<thread>> threads_;
  std::vector<thread*> idle_;
  std::vector<caf::resumable*> rested_;  ///< Jobs whose pauses are over, not yet in the order.
  std::map<caf::resumable*, thread*> paused_in_;  ///< The threads of paused turns, by their jobs.
  bool stops_ = false;
};

}  // namespace troupe::detail
