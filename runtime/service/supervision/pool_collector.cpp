#include "runtime/service/supervision/pool_collector.hpp"

#include <algorithm>
#include <chrono>

#include "runtime/actor/ticks.hpp"

namespace troupe::detail {

namespace {

double seconds(duration::rep ticks) {
  return std::max(0.0, std::chrono::duration<double>(duration(ticks)).count());
}

}  // namespace

std::vector<prometheus::MetricFamily> pool_collector::Collect() const {
  std::vector<prometheus::MetricFamily> families;
  const auto gauge = [&](const char* name, const char* help, double value) {
    families.push_back({name, help, prometheus::MetricType::Gauge, {}});
    families.back().metric.emplace_back().gauge.value = value;
  };
  gauge("troupe_pool_threads", "Threads that run actors, with those added while others are held.",
        static_cast<double>(findings_->threads.load()));
  gauge("troupe_pool_threads_held", "Threads of the pool that have been in one turn for 10 s.",
        static_cast<double>(findings_->in_long_turns.load()));
  // Somebody looks twice a second, unless the clock itself stands still.
  const auto now = ticks_of(std::chrono::steady_clock::now());
  const auto unlooked = now - findings_->looked.load() - 2 * pool_watch::look_every.count();
  const auto since = findings_->stalled_since.load();
  gauge("troupe_driver_stalled_seconds",
        "Seconds for which the main coroutine, deadlines and supervisors have waited for a thread.",
        std::max(seconds(unlooked), since == 0 ? 0.0 : seconds(now - since)));
  return families;
}

}  // namespace troupe::detail
