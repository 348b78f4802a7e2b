#include "runtime/actor/spare_threads.hpp"

#include "runtime/actor/thread_pool.hpp"
#include "runtime/actor/tsan_annotations.hpp"

namespace troupe::detail {

struct spare_threads::state {
  explicit state(caf::actor_system& actors)
      : actors(actors), jobs(static_cast<thread_pool&>(actors.scheduler()).data().jobs) {}

  caf::actor_system& actors;
  job_queue& jobs;            ///< The pool's queue; its lock guards the members below.
  std::ptrdiff_t wanted = 0;  ///< The number of spare threads that are needed; below 0 if a removal
                              ///< has overtaken its addition.
  std::ptrdiff_t running = 0;
  bool stops = false;
  std::unique_ptr<worker> reserve;
  std::list<std::unique_ptr<worker>> workers;  ///< All workers, including those that have ended.
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

 private:
  void run() {
    constexpr std::size_t messages_a_turn = 100;
    while (auto* job = next()) {
      tsan_acquire(job);
      const auto result = job->resume(this, messages_a_turn);
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
      return shared_.jobs.take_urgent_unless([&] { return shared_.stops; });
    }
    return shared_.jobs.take_unless([&] {
      if (shared_.running <= shared_.wanted) return false;
      --shared_.running;
      return true;
    });
  }

  state& shared_;
  const takes takes_;
  std::thread thread_;
};

spare_threads::spare_threads(caf::actor_system& actors) : state_(std::make_unique<state>(actors)) {}

spare_threads::~spare_threads() {
  state_->jobs.change([&] {
    state_->wanted = 0;
    state_->stops = true;
  });
  state_->workers.clear();
  state_->reserve.reset();
}

void spare_threads::add() {
  state_->jobs.change([&] {
    if (++state_->wanted <= state_->running) return;
    ++state_->running;
    state_->workers.push_back(std::make_unique<worker>(*state_, worker::takes::all));
  });
}

void spare_threads::remove() {
  state_->jobs.change([&] { --state_->wanted; });
}

void spare_threads::reserve() {
  state_->jobs.change([&] {
    if (!state_->reserve && !state_->stops) {
      state_->reserve = std::make_unique<worker>(*state_, worker::takes::urgent);
    }
  });
}

}  // namespace troupe::detail
