#include "runtime/service/readiness.hpp"

#include "runtime/metrics/registry.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

TEST_CASE("readiness: a process is ready while each of its services has a replica that is") {
  metrics_registry metrics;
  CHECK(services_are_up(metrics));  // none yet
  const auto set = [&](const std::string& service, double desired, double ready) {
    metrics.gauge("troupe_replicas_desired", "Wanted.", {{"service", service}}).set(desired);
    metrics.gauge("troupe_replicas_ready", "Ready.", {{"service", service}}).set(ready);
  };
  set("policy", 2, 0);
  CHECK_FALSE(services_are_up(metrics));
  set("policy", 2, 1);
  CHECK(services_are_up(metrics));
  set("environments", 1, 0);
  CHECK_FALSE(services_are_up(metrics));
  set("environments", 0, 0);  // scaled to nothing, on purpose
  CHECK(services_are_up(metrics));
}

TEST_CASE("readiness: a service that exports no ready replicas has none") {
  metrics_registry metrics;
  metrics.gauge("troupe_replicas_desired", "Wanted.", {{"service", "policy"}}).set(1);
  CHECK_FALSE(services_are_up(metrics));
}

}  // namespace
}  // namespace troupe
