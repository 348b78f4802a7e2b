#include "runtime/service/supervision/autoscaler.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

namespace {

/// The largest growth in one decision, as in the default policy of Kubernetes'
/// HorizontalPodAutoscaler.
constexpr double growth_max = 2;
/// The share of the target below which there is one replica too many.
constexpr double calm_share = 0.5;

double seconds(duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

queue_look look_at(const service_state& service) {
  queue_look now;
  for (const auto& replica : service.counts()) {
    now.unfinished += replica->in_flight();
    for (const auto& row : replica->endpoints) {
      const auto* counted = row.load(std::memory_order_acquire);
      if (!counted) continue;
      for (const auto& bucket : counted->queue_wait.buckets) now.begun += bucket.load();
      now.waited += counted->queue_wait.sum.load();
    }
  }
  now.unfinished += service.waiting();
  now.restarts = service.restarts.load();
  return now;
}

std::optional<std::size_t> autoscaler::decide(const queue_look& now) {
  const auto before = std::exchange(before_, now);
  const bool steady = before && now.at_rest && before->at_rest && now.restarts == before->restarts;
  const bool counted = steady && now.begun > before->begun;
  const bool idle = steady && !counted && now.unfinished == 0;
  // The window says nothing if calls were there but none could begin.
  if (!counted && !idle) {
    busy_since_ = calm_since_ = std::nullopt;
    return std::nullopt;
  }
  // The program has scaled the service itself.
  if (now.replicas < options_.min || now.replicas > options_.max) {
    return std::clamp(now.replicas, options_.min, options_.max);
  }
  const double wait =
      idle ? 0 : (now.waited - before->waited) / static_cast<double>(now.begun - before->begun);
  const double target = seconds(options_.target_queue_wait);
  const auto since = [&](std::optional<time_point>& start, bool holds) {
    if (!holds) start = std::nullopt;
    if (holds && !start) start = before->at;
  };
  since(busy_since_, wait > target);
  since(calm_since_, wait < target * calm_share);
  if (busy_since_ && now.at - *busy_since_ >= options_.upscale_delay) return grow(now, wait);
  if (calm_since_ && now.at - *calm_since_ >= options_.downscale_delay) return shrink(now);
  return std::nullopt;
}

std::optional<std::size_t> autoscaler::grow(const queue_look& now, double wait) {
  if (now.replicas >= options_.max || now.at < no_growth_before_) return std::nullopt;
  busy_since_ = calm_since_ = std::nullopt;
  before_ = std::nullopt;  // The waits until now say nothing about the larger service.
  // desired = ceil(current x metric / target)
  const double share = std::min(growth_max, wait / seconds(options_.target_queue_wait));
  const auto wanted = std::ceil(static_cast<double>(now.replicas) * share);
  return std::min(options_.max, static_cast<std::size_t>(wanted));
}

std::optional<std::size_t> autoscaler::shrink(const queue_look& now) {
  if (now.replicas <= options_.min) return std::nullopt;
  busy_since_ = calm_since_ = std::nullopt;
  before_ = std::nullopt;
  return now.replicas - 1;
}

}  // namespace troupe::detail
