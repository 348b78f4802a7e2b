#include "runtime/actor/spare_threads.hpp"

#include <caf/policy/work_sharing.hpp>
#include <caf/scheduler/coordinator.hpp>

#include "runtime/actor/handover.hpp"

namespace troupe::detail {

namespace {

using pool = caf::scheduler::coordinator<caf::policy::work_sharing>;

}  // namespace

struct spare_threads::state {
  explicit state(caf::actor_system& actors)
      : actors(actors), jobs(static_cast<pool&>(actors.scheduler()).data()) {}

  caf::actor_system& actors;
  caf::policy::work_sharing::coordinator_data& jobs;  ///< The pool's; its lock guards what follows.
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

  void exec_later(caf::resumable* job) override {
    std::lock_guard lock(shared_.jobs.lock);
    shared_.jobs.queue.push_back(job);
    shared_.jobs.cv.notify_one();
  }

 private:
  void run() {
    constexpr std::size_t messages_a_turn = 100;
    while (auto* job = next()) {
      take_over(job);
      const auto result = job->resume(this, messages_a_turn);
      hand_over(job);
      if (result == caf::resumable::resume_later) {
        exec_later(job);
      } else {
        caf::intrusive_ptr_release(job);
      }
    }
  }

  /// Null: it is not wanted any more.
  caf::resumable* next() {
    std::unique_lock lock(shared_.jobs.lock);
    shared_.jobs.cv.wait(
        lock, [&] { return shared_.running > shared_.wanted || !shared_.jobs.queue.empty(); });
    if (shared_.running > shared_.wanted) {
      --shared_.running;
      shared_.jobs.cv.notify_one();  // What woke it may have been a job.
      return nullptr;
    }
    auto* job = shared_.jobs.queue.front();
    shared_.jobs.queue.pop_front();
    return job;
  }

  state& shared_;
  std::thread thread_;
};

spare_threads::spare_threads(caf::actor_system& actors) : state_(std::make_unique<state>(actors)) {}

spare_threads::~spare_threads() {
  {
    std::lock_guard lock(state_->jobs.lock);
    state_->wanted = 0;
    state_->jobs.cv.notify_all();
  }
  state_->workers.clear();
}

void spare_threads::add() {
  std::lock_guard lock(state_->jobs.lock);
  if (++state_->wanted <= state_->running) return;
  ++state_->running;
  state_->workers.push_back(std::make_unique<worker>(*state_));
}

void spare_threads::remove() {
  std::lock_guard lock(state_->jobs.lock);
  --state_->wanted;
  state_->jobs.cv.notify_all();
}

}  // namespace troupe::detail
