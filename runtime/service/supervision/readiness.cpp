#include "runtime/service/supervision/readiness.hpp"

#include <prometheus/metric_family.h>

#include <algorithm>
#include <map>
#include <string>

#include "runtime/metrics/registry.hpp"

namespace troupe {

namespace {

using labels = std::vector<prometheus::ClientMetric::Label>;

/// Reads the values of a gauge, keyed by its labels.
std::map<labels, double> read_gauge(const std::vector<prometheus::MetricFamily>& from,
                                    const std::string& name) {
  std::map<labels, double> values;
  for (const auto& family : from) {
    if (family.name != name) continue;
    for (const auto& metric : family.metric) values[metric.label] = metric.gauge.value;
  }
  return values;
}

}  // namespace

bool is_live(const metrics_registry& metrics) {
  const auto stalled = read_gauge(metrics.families(), "troupe_driver_stalled_seconds");
  const double limit = std::chrono::duration<double>(stall_limit).count();
  return std::none_of(stalled.begin(), stalled.end(),
                      [&](const auto& system) { return system.second > limit; });
}

bool readiness::at(time_point now) {
  const auto seen = metrics_.families();
  const auto ready = read_gauge(seen, "troupe_replicas_ready");
  bool any = false;
  for (const auto& [service, desired] : read_gauge(seen, "troupe_replicas_desired")) {
    if (desired <= 0) continue;
    any = true;
    const auto found = ready.find(service);
    const bool up = found != ready.end() && found->second >= 1;
    if (!up) return last_up_ && now - *last_up_ < patience;
  }
  if (any) last_up_ = now;
  return true;
}

}  // namespace troupe
