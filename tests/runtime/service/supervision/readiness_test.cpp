#include "runtime/service/supervision/readiness.hpp"

#include "runtime/metrics/registry.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

constexpr auto patience = readiness::patience;

struct process {
  void set(const std::string& service, double desired, double ready) {
    metrics.gauge("troupe_replicas_desired", "Wanted.", {{"service", service}}).set(desired);
    metrics.gauge("troupe_replicas_ready", "Ready.", {{"service", service}}).set(ready);
  }
  bool is_ready() { return services.at(now); }

  metrics_registry metrics;
  readiness services{metrics};
  readiness::time_point now{};
};

TEST_CASE("readiness: a process is ready once each of its services has a replica that is") {
  process p;
  CHECK(p.is_ready());  // none yet
  p.set("policy", 2, 0);
  CHECK_FALSE(p.is_ready());
  p.set("policy", 2, 1);
  CHECK(p.is_ready());
}

TEST_CASE("readiness: it lasts while services are gone for a moment, and no longer") {
  process p;
  p.set("policy", 1, 1);
  CHECK(p.is_ready());
  p.set("policy", 1, 0);
  p.now += patience - std::chrono::milliseconds(1);
  CHECK(p.is_ready());
  p.now += std::chrono::milliseconds(1);
  CHECK_FALSE(p.is_ready());
  p.set("policy", 0, 0);  // scaled to nothing, on purpose
  CHECK(p.is_ready());
  p.set("policy", 1, 0);
  CHECK_FALSE(p.is_ready());
}

TEST_CASE("readiness: a service that exports no ready replicas has none") {
  process p;
  p.metrics.gauge("troupe_replicas_desired", "Wanted.", {{"service", "policy"}}).set(1);
  CHECK_FALSE(p.is_ready());
}

}  // namespace
}  // namespace troupe
