#include "actors/openenv/server/step_threads.hpp"

#include <system_error>

#include "runtime/base/log.hpp"
#include "runtime/base/quiet_thread.hpp"

namespace troupe::openenv_server {

using steady = std::chrono::steady_clock;

step_threads::step_threads(std::size_t count, std::chrono::nanoseconds hang_time)
    : hang_time_(hang_time), pool_(count) {}

step_threads::~step_threads() { stop(); }

void step_threads::stop() {
  pool_.stop();
  pool_.join();
  for (auto& each : more_) each.join();
  more_.clear();
}

std::size_t step_threads::replace_hung(steady::time_point now) {
  std::size_t hanging = 0;
  {
    const std::lock_guard lock(guard_);
    for (auto& each : calls_) {
      if (now - each.begun <= hang_time_) break;
      if (!std::exchange(each.hangs, true)) ++hanging_;
    }
    hanging = hanging_;
  }
  try {
    while (more_.size() < hanging) {
      more_.push_back(troupe::detail::quiet_thread([this] { pool_.attach(); }));
      log::warn("a call of a served environment hangs; one more thread takes its thread's place",
                {{"seconds", std::chrono::duration<double>(hang_time_).count()},
                 {"hanging_calls", hanging}});
    }
  } catch (const std::system_error& e) {  // the next call tries again
    if (!std::exchange(is_refused_, true))
      log::warn("no thread can take the place of one whose call hangs",
                {{"hanging_calls", hanging}, {"error", e.what()}});
  }
  return hanging;
}

step_threads::call_under_way::call_under_way(step_threads& of) : of_(of) {
  const std::lock_guard lock(of_.guard_);
  at_ = of_.calls_.insert(of_.calls_.end(), call{.begun = steady::now()});
}

step_threads::call_under_way::~call_under_way() {
  const std::lock_guard lock(of_.guard_);
  if (at_->hangs) --of_.hanging_;
  of_.calls_.erase(at_);
}

}  // namespace troupe::openenv_server
