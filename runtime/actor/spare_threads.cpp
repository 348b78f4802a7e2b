#include "runtime/actor/spare_threads.hpp"

#include "runtime/actor/handover.hpp"
#include "runtime/actor/thread_pool.hpp"

namespace troupe::detail {

struct spare_threads::state {
  explicit state(caf::actor_system& actors)
      : actors(actors), jobs(static_cast<thread_pool&>(actors.scheduler()).data().jobs) {}

  caf::actor_system& actors;
  job_queue& jobs;            ///< The pool's; its lock guards what follows.
  std::ptrdiff_t wanted = 0;  ///< Below zero where a removal has overtaken its addition.
  std::ptrdiff_t running = 0;
  std::list<std::unique_ptr<worker>> workers;  ///< Those that have ended too, until the end.
};

/// Does what CAF's own workers do, and ends when there are more than are wanted.
class spare_threads::worker final : public caf::execution_unit {
 public:
  explicit worker(state& shared)
      : caf::execution_unit(&shared.actors), shared_(shared), thread_([this] { run(); }) {}
  ~worker() override { thread_.join(); }

  void exec_later(caf::resumable* job) override { shared_.jobs.push(job, job_queue::from::turn); }

 private:
  void run() {
    constexpr std::size_t messages_a_turn = 100;
    while (auto* job = next()) {
      take_over(job);
      const auto result = job->resume(this, messages_a_turn);
      if (result == caf::resumable::resume_later) {
        exec_later(job);
      } else {
        caf::intrusive_ptr_release(job);
      }
    }
  }

  /// Null: it is not wanted any more.
  caf::resumable* next() {
    return shared_.jobs.take_unless([&] {
      if (shared_.running <= shared_.wanted) return false;
      --shared_.running;
      return true;
    });
  }

  state& shared_;
  std::thread thread_;
};

spare_threads::spare_threads(caf::actor_system& actors) : state_(std::make_unique<state>(actors)) {}

spare_threads::~spare_threads() {
  state_->jobs.change([&] { state_->wanted = 0; });
  state_->workers.clear();
}

void spare_threads::add() {
  state_->jobs.change([&] {
    if (++state_->wanted <= state_->running) return;
    ++state_->running;
    state_->workers.push_back(std::make_unique<worker>(*state_));
  });
}

void spare_threads::remove() {
  state_->jobs.change([&] { --state_->wanted; });
}

}  // namespace troupe::detail
