#pragma once
// The coroutines of one actor: a strand knows which one runs, which are ready and which sleep.
//
// At most one coroutine of a strand is on the stack; all others are suspended. A coroutine never
// resumes another: it names the next one (`transfer_to`) or makes it ready (`wake`), and returns to
// the loop in `run`. So the owner of a frame can always destroy it, the stack stays one frame deep,
// and code between two co_awaits needs no lock.

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <map>
#include <utility>

#include "runtime/base/recycled.hpp"
#include "runtime/coroutine/list.hpp"

namespace troupe {

using time_point = std::chrono::steady_clock::time_point;
using duration = std::chrono::steady_clock::duration;

namespace detail {

class caller;
class trace_lane;

/// A suspended coroutine that something will wake. It lives in the awaiter, and hence in the
/// coroutine's frame.
struct waiter : list_node {
  waiter() noexcept;
  std::coroutine_handle<> handle;
  /// The strand's `slice` when this was made; `slice` gets this value again when the coroutine is
  /// resumed.
  std::uint64_t slice;
};

struct sleeper;
using sleepers = std::multimap<time_point, sleeper*, std::less<>,
                               recycling_allocator<std::pair<const time_point, sleeper*>>>;

/// A waiter that is woken at a given time. `strand::sleep` adds it to the strand's sleepers; its
/// destructor removes it.
struct sleeper : waiter {
  ~sleeper();
  class strand* owner = nullptr;
  sleepers::iterator place;
};

class strand;
/// The strand whose coroutine is running on this thread, or null.
inline constinit thread_local strand* current_strand = nullptr;

class strand {
 public:
  strand() = default;
  strand(const strand&) = delete;
  strand& operator=(const strand&) = delete;
  virtual ~strand() = default;

  /// The strand whose coroutine is running on this thread. Throws std::logic_error outside of one.
  static strand& current() {
    if (!current_strand) refuse_outside();
    return *current_strand;
  }
  /// The strand whose coroutine is running on this thread, or null.
  static strand* current_or_null() noexcept { return current_strand; }

  virtual time_point now() const = 0;
  /// The actor's calling side; null if it has none.
  virtual caller* calls() noexcept { return nullptr; }

  /// Runs `next` as soon as the running coroutine has suspended. Called from await_suspend.
  void transfer_to(std::coroutine_handle<> next) noexcept { next_ = next; }
  /// Puts a waiter at the end of the ready list.
  void wake(waiter& w) noexcept { ready_.push_back(w); }
  /// Stops the strand: no coroutine is resumed any more, and the actor ends once the running
  /// coroutine has suspended.
  void stop() noexcept { stopped_ = true; }

  /// Wakes `s` at the time `at`, unless `s` is destroyed earlier.
  void sleep(sleeper& s, time_point at);
  /// Makes every sleeper ready whose time has come.
  void wake_sleepers(time_point now);
  /// The time at which the next sleeper is due; time_point::max() if there is none.
  time_point next_sleeper() const noexcept;

  /// Resumes ready coroutines until none is ready. Returns false if none was ready.
  bool run();

  /// Identifies the work that the running coroutine belongs to. In a replica it is the call: its id
  /// in the trace or, without a trace, a number of its process and its address, so that calls in
  /// several processes differ. 0 means no known work. A coroutine keeps its
  /// value while it waits, and coroutines that it starts inherit the value.
  std::uint64_t slice = 0;
  /// Where the actor's trace is kept; null where nothing is traced.
  trace_lane* lane = nullptr;

  /// Makes a strand the current one of this thread within a scope.
  class turn {
   public:
    explicit turn(strand& s) noexcept : before_(std::exchange(current_strand, &s)) {}
    turn(const turn&) = delete;
    ~turn() { current_strand = before_; }

   private:
    strand* before_;
  };

 private:
  friend struct sleeper;
  [[noreturn]] static void refuse_outside();
  void step(std::coroutine_handle<> handle);

  bool stopped_ = false;
  std::coroutine_handle<> next_;
  list<waiter> ready_;
  sleepers sleepers_;
};

inline waiter::waiter() noexcept : slice(current_strand ? current_strand->slice : 0) {}

}  // namespace detail
}  // namespace troupe
