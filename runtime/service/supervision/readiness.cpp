#include "runtime/service/supervision/readiness.hpp"

#include <prometheus/metric_family.h>

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
