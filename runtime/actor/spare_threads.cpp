#include "runtime/actor/spare_threads.hpp"

#include <algorithm>
#include <exception>
#include <list>
#include <thread>

#include "runtime/actor/strand_actor.hpp"
#include "runtime/actor/thread_pool.hpp"
#include "runtime/actor/tsan_annotations.hpp"
#include "runtime/base/scarcity.hpp"

namespace troupe::detail {

struct spare_threads::state {
  explicit state(caf::actor_system& actors)
      : actors(actors), jobs(static_cast<thread_pool&>(actors.scheduler()).data().jobs) {}

  /// Requires the lock.
  std::size_t wanted() const noexcept {
    const auto sum = std::max<std::ptrdiff_t>(0, hanging) + held;
    return stops ? 0 : std::min(static_cast<std::size_t>(sum), threads_max);
  }
  void make_wanted() noexcept;
  std::list<std::unique_ptr<worker>> take_ended();

  caf::actor_system& actors;
  job_queue& jobs;             ///< The pool's queue; its lock guards the members below.
  std::ptrdiff_t hanging = 0;  ///< Threads that hang in replicas that were given up; below 0 if one
                               ///< has come back before it was counted.
  std::ptrdiff_t held = 0;     ///< Other threads that long turns hold and that are replaced.
  std::size_t running = 0;
  bool stops = false;
  bool failed = false;  ///< True if the last thread could not be made.
  std::unique_ptr<worker> reserve;
  std::list<std::unique_ptr<worker>> workers;
};

/// Does what CAF's own workers do, and ends when there are more workers than needed. The reserve
/// ends only with the system.
class spare_threads::worker final : public caf::execution_unit {
 public:
  enum class takes { all, urgent };

  worker(state& shared, takes what)
      : caf::execution_unit(&shared.actors),
        shared_(shared),
        takes_(what),
        thread_([this] { run(); }) {}
  ~worker() override { thread_.join(); }

  /// The reserve doesn't come for the jobs that its turns add.
  void exec_later(caf::resumable* job) override {
    shared_.jobs.push(job, takes_ == takes::all ? job_queue::from::turn : job_queue::from::outside);
  }

  turn_count turns;
  turn_sighting seen;
  bool ended = false;  ///< Guarded by the lock of the jobs.

 private:
  void run() {
    constexpr std::size_t messages_a_turn = 100;
    while (auto* job = next()) {
      tsan_acquire(job);
      turns.begin();
      const auto result = job->resume(this, messages_a_turn);
      turns.end();
      if (result == caf::resumable::resume_later) {
        exec_later(job);
      } else {
        caf::intrusive_ptr_release(job);
      }
    }
  }

  /// Returns the next job; null if this worker is not needed any more.
  caf::resumable* next() {
    if (takes_ == takes::urgent) {
      return shared_.jobs.take_urgent_unless([&] { return shared_.stops; }, is_assured);
    }
    return shared_.jobs.take_unless([&] {
      if (shared_.running <= shared_.wanted()) return false;
      --shared_.running;
      return ended = true;
    });
  }

  state& shared_;
  const takes takes_;
  std::thread thread_;
};

/// Requires the lock.
void spare_threads::state::make_wanted() noexcept {
  failed = false;
  while (running < wanted()) {
    try {
      check_scarcity();
      workers.push_back(std::make_unique<worker>(*this, worker::takes::all));
      ++running;
    } catch (const std::exception&) {  // No thread or no memory can be had.
      failed = true;
      return;
    }
  }
}

/// Requires the lock. The threads that have ended are to be joined without it.
std::list<std::unique_ptr<spare_threads::worker>> spare_threads::state::take_ended() {
  std::list<std::unique_ptr<worker>> gone;
  for (auto next = workers.begin(); next != workers.end();) {
    const auto place = next++;
    if ((*place)->ended) gone.splice(gone.end(), workers, place);
  }
  return gone;
}

spare_threads::spare_threads(caf::actor_system& actors) : state_(std::make_unique<state>(actors)) {
  state_->reserve = std::make_unique<worker>(*state_, worker::takes::urgent);
}

spare_threads::~spare_threads() {
  state_->jobs.change([&] { state_->stops = true; });
  state_->workers.clear();
  state_->reserve.reset();
}

void spare_threads::hangs() noexcept {
  state_->jobs.change([&] {
    ++state_->hanging;
    state_->make_wanted();
  });
}

void spare_threads::came_back() noexcept {
  state_->jobs.change([&] { --state_->hanging; });
}

std::size_t spare_threads::hanging() const {
  std::ptrdiff_t count = 0;
  state_->jobs.read([&] { count = state_->hanging; });
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, count));
}

bool spare_threads::replace(std::size_t held, bool one_more) {
  auto& s = *state_;
  std::list<std::unique_ptr<worker>> ended;
  bool enough = true;
  s.jobs.change([&] {
    const auto before = s.running;
    const auto others = static_cast<std::ptrdiff_t>(held) - s.hanging;
    s.held = std::clamp<std::ptrdiff_t>(s.held + one_more, 0, std::max<std::ptrdiff_t>(0, others));
    s.make_wanted();
    enough = !s.failed && (!one_more || s.running > before);
    ended = s.take_ended();
  });
  return enough;  // The threads that have ended are joined here.
}

void spare_threads::look(time_point now, std::vector<duration>& to) {
  state_->jobs.read([&] {
    for (const auto& w : state_->workers) {
      if (!w->ended) to.push_back(w->seen.look(w->turns, now));
    }
  });
}

}  // namespace troupe::detail
