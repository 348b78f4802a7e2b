#pragma once
// The scheduler whose threads run actors: CAF's pool with the runtime's own queue. Internal to
// runtime/.

#include <caf/execution_unit.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/coordinator.hpp>

#include "runtime/actor/job_queue.hpp"
#include "runtime/actor/tsan_annotations.hpp"
#include "runtime/actor/turn_count.hpp"

namespace troupe::detail {

/// An execution unit that puts actors with mail into a queue as urgent jobs.
class urgent_unit final : public caf::execution_unit {
 public:
  urgent_unit(caf::actor_system& actors, job_queue& jobs, job_queue::from where)
      : caf::execution_unit(&actors), jobs_(jobs), where_(where) {}
  void exec_later(caf::resumable* job) override { jobs_.push_urgent(job, where_); }

 private:
  job_queue& jobs_;
  const job_queue::from where_;
};

/// The policy by which the threads of CAF's pool share jobs: all of them use one `job_queue`. CAF's
/// coordinator defines the interface.
class queue_policy {
 public:
  struct coordinator_data {
    explicit coordinator_data(caf::scheduler::abstract_coordinator* pool)
        : urgent_from_outside(pool->system(), jobs, job_queue::from::outside),
          urgent_from_turn(pool->system(), jobs, job_queue::from::turn) {}
    job_queue jobs;
    urgent_unit urgent_from_outside, urgent_from_turn;
  };
  struct worker_data {
    explicit worker_data(caf::scheduler::abstract_coordinator*) {}
    alignas(64) turn_count turns;
  };

  template <class Coordinator>
  void central_enqueue(Coordinator* pool, caf::resumable* job) {
    pool->data().jobs.push(job, job_queue::from::outside);
  }
  template <class Worker>
  void external_enqueue(Worker* worker, caf::resumable* job) {
    worker->parent()->data().jobs.push(job, job_queue::from::outside);
  }
  template <class Worker>
  void internal_enqueue(Worker* worker, caf::resumable* job) {
    worker->parent()->data().jobs.push(job, job_queue::from::turn);
  }
  template <class Worker>
  void resume_job_later(Worker* worker, caf::resumable* job) {
    internal_enqueue(worker, job);
  }
  template <class Worker>
  caf::resumable* dequeue(Worker* worker) {
    auto* job = worker->parent()->data().jobs.take();
    tsan_acquire(job);
    return job;
  }

  template <class Worker>
  void before_resume(Worker* worker, caf::resumable*) {
    worker->data().turns.begin();
  }
  template <class Worker>
  void after_resume(Worker* worker, caf::resumable*) {
    worker->data().turns.end();
  }
  template <class Worker>
  void after_completion(Worker*, caf::resumable*) {}
  template <class Worker>
  void before_shutdown(Worker*) {}

  template <class Worker, class F>
  void foreach_resumable(Worker*, F) {}
  template <class Coordinator, class F>
  void foreach_central_resumable(Coordinator* pool, F f) {
    while (auto* job = pool->data().jobs.try_take()) f(job);
  }
};

/// The scheduler that is loaded into an actor system's configuration.
using thread_pool = caf::scheduler::coordinator<queue_policy>;

}  // namespace troupe::detail
