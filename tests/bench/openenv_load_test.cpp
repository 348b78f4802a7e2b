#include "tests/bench/openenv_load.hpp"

#include "actors/openenv/server/server.hpp"
#include "actors/worlds/registry.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

TEST_CASE(
    "bench openenv: the raw load takes its steps on our server, and its clients all come in") {
  metrics_registry metrics;
  const openenv_server::server serving([] { return make_vector_environment("CartPole-v1", 1); },
                                       {.port = 0}, metrics);
  CHECK(steps_per_second(serving.port(), 1, 50) > 0);
  CHECK(steps_per_second(serving.port(), 4, 200) > 0);
  CHECK(failures_at_once(serving.port(), 40) == 0);
  CHECK(series(metrics.text(), "troupe_openenv_server_requests_total{kind=\"step\"}") >=
        50 + 200 + 40);
}

}  // namespace
}  // namespace troupe::openenv
