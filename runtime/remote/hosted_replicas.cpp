#include "runtime/remote/hosted_replicas.hpp"

#include <prometheus/metric_family.h>

namespace troupe::detail {

namespace {

std::uint64_t answered_by(const replica_slot& slot) {
  std::uint64_t calls = 0;
  for (const auto& row : slot.endpoints) {
    const auto* counts = row.load(std::memory_order_acquire);
    if (!counts) continue;
    for (const auto& bucket : counts->duration.buckets) calls += bucket.load();
  }
  return calls;
}

}  // namespace

void hosted_replicas::add(const std::string& service, std::shared_ptr<const replica_slot> slot) {
  std::lock_guard lock(mutex_);
  services_[service].live.insert(std::move(slot));
}

void hosted_replicas::remove(const std::string& service,
                             const std::shared_ptr<const replica_slot>& slot) {
  std::lock_guard lock(mutex_);
  const auto place = services_.find(service);
  if (place == services_.end() || place->second.live.erase(slot) == 0) return;
  place->second.answered += answered_by(*slot);
}

std::vector<prometheus::MetricFamily> hosted_replicas::Collect() const {
  using prometheus::MetricType;
  prometheus::MetricFamily replicas{"troupe_hosted_replicas",
                                    "Replicas that run here for another process.",
                                    MetricType::Gauge,
                                    {}};
  prometheus::MetricFamily calls{
      "troupe_hosted_calls_total",
      "Calls that were answered by replicas that run here for another process.",
      MetricType::Counter,
      {}};
  std::lock_guard lock(mutex_);
  for (const auto& [name, service] : services_) {
    auto answered = service.answered;
    for (const auto& slot : service.live) answered += answered_by(*slot);
    auto& one = replicas.metric.emplace_back();
    one.label = {{"service", name}};
    one.gauge.value = static_cast<double>(service.live.size());
    auto& all = calls.metric.emplace_back();
    all.label = {{"service", name}};
    all.counter.value = static_cast<double>(answered);
  }
  return {std::move(replicas), std::move(calls)};
}

}  // namespace troupe::detail
