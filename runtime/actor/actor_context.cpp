#include "runtime/actor/actor_context.hpp"

#include <algorithm>
#include <caf/logger.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/actor/thread_pool.hpp"
#include "runtime/base/scarcity.hpp"
#include "runtime/base/usable_cores.hpp"
#include "runtime/trace/trace.hpp"

namespace troupe::detail {

namespace {

caf::scheduler::test_coordinator& deterministic_scheduler(caf::actor_system& of) {
  return dynamic_cast<caf::scheduler::test_coordinator&>(of.scheduler());
}

/// Throws std::runtime_error if this process can't have so many more threads at once. CAF ends the
/// process where it can't start a thread of its pool.
void require_threads(std::size_t count) {
  std::latch all_tried(1);
  std::vector<std::thread> threads;
  std::string error;
  try {
    threads.reserve(count);
    while (threads.size() < count) {
      check_scarcity();
      threads.emplace_back([&] { all_tried.wait(); });
    }
  } catch (const std::exception& e) {
    error = e.what();
  }
  all_tried.count_down();
  for (auto& thread : threads) thread.join();
  if (error.empty()) return;
  throw std::runtime_error("system: expected room for " + std::to_string(count) +
                           " threads, got room for " + std::to_string(threads.size()) + ": " +
                           error);
}

}  // namespace

actor_context::actor_context(const actor_options& options)
    : options_(options), order_(options.seed) {
  if (options.trace) options.trace->begin_system(options.deterministic);
  if (options.deterministic) {
    clock_ = std::make_unique<virtual_clock>();
    config_.set("scheduler.policy", caf::atom("testing"));
  } else {
    clock_ = std::make_unique<real_clock>();
    tell_usable_cores();
    const auto threads = options.threads ? options.threads : usable_cores();
    require_threads(threads);
    config_.load<thread_pool>();
    config_.set("scheduler.max-threads", threads);
    config_.set("scheduler.max-throughput", std::size_t{100});
  }
  actors_ = std::make_unique<caf::actor_system>(config_);
  // CAF has made its logger this thread's, and the system's end would wait until the thread gives
  // it back. Another thread may end the system.
  caf::logger::set_current_actor_system(nullptr);
  if (options.deterministic) return;
  spares_ = std::make_unique<spare_threads>(*actors_);
  pool_watch_ = std::make_shared<pool_watch>(
      *clock_, static_cast<thread_pool&>(actors_->scheduler()), *spares_, options.long_turn);
}

actor_context::~actor_context() = default;

void actor_context::simulate_threads() {
  if (virtual_threads_) return;
  virtual_threads_ =
      std::make_unique<simulated_threads>(*actors_, dynamic_cast<virtual_clock&>(*clock_));
}

void actor_context::spend(duration time) {
  if (virtual_threads_ && virtual_threads_->hold(time)) return;
  static_cast<virtual_clock&>(*clock_).spend(time);
}

std::uint64_t actor_context::key_of(std::string_view name) {
  auto key = key_below(options_.seed, name);
  if (!deterministic()) return key;
  std::lock_guard lock(mutex_);
  key += named_[key]++;
  return next_of(key);
}

void actor_context::watch_pool(std::function<void()> looked) {
  if (pool_watch_) pool_watch_->begin(std::move(looked));
}

void actor_context::unwatch_pool() {
  if (pool_watch_) pool_watch_->end();
}

std::shared_ptr<const pool_findings> actor_context::findings_of_pool() const noexcept {
  return pool_watch_ ? pool_watch_->findings() : nullptr;
}

void actor_context::thread_hangs(simulated_pool* in) noexcept {
  if (spares_) spares_->hangs();
  if (in) virtual_threads_->hangs(*in);
}

std::size_t actor_context::hanging_threads() const { return spares_ ? spares_->hanging() : 0; }

void actor_context::thread_came_back(simulated_pool* in) {
  if (spares_) spares_->came_back();
  if (in) virtual_threads_->came_back(*in);
}

void actor_context::host_started() {
  std::lock_guard lock(mutex_);
  ++hosts_;
}

void actor_context::host_ended() {
  std::lock_guard lock(mutex_);
  if (--hosts_ == 0) hosts_changed_.notify_all();
}

std::size_t actor_context::hosts() const {
  std::lock_guard lock(mutex_);
  return hosts_;
}

bool actor_context::all_ended_by(std::chrono::steady_clock::time_point limit) {
  std::unique_lock lock(mutex_);
  return hosts_changed_.wait_until(lock, limit, [this] { return hosts_ == 0; });
}

bool actor_context::step_deterministic() {
  auto& time = static_cast<virtual_clock&>(*clock_);
  if (virtual_threads_) return virtual_threads_->step(order_) || time.advance_to_next();
  auto& scheduler = deterministic_scheduler(*actors_);
  order_.add_all(scheduler.jobs);
  auto* next = order_.take([](caf::resumable*) { return true; });
  if (!next) return time.advance_to_next();
  scheduler.jobs.push_front(next);
  scheduler.run_once();
  return true;
}

bool actor_context::stop_clock(std::chrono::steady_clock::time_point limit) {
  clock_->stop();
  return own_threads_->none_by(limit);
}

void actor_context::end_threads() {
  pool_watch_.reset();
  spares_.reset();
  virtual_threads_.reset();
  if (deterministic()) order_.remove_all(deterministic_scheduler(*actors_).jobs);
  actors_.reset();
}

}  // namespace troupe::detail
