#include "algorithms/program/http_get.hpp"

#include "runtime/metrics/metrics_server.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/runtime/net/slow_names.hpp"
#include "tests/test.hpp"

namespace troupe::command {

using Catch::Matchers::Contains;

TEST_CASE("http_get: a name that no name server tells ends with the time limit") {
  const testing::slow_names names;
  for (int i = 0; i < 2; ++i) {  // The second time the lookup of the first one is still under way.
    CHECK_THROWS_WITH(
        http_get("a.slow.test", 9464, "/metrics", std::chrono::milliseconds(20)),
        "http://a.slow.test:9464/metrics: the name was not found within the time limit");
  }
  CHECK(names.begun() <= 1);
}

TEST_CASE("http_get: a name that is told in time is asked, and an unknown one is an error") {
  metrics_registry metrics;
  const metrics_server server(metrics, {.port = 0});
  const auto limit = std::chrono::seconds(20);
  CHECK(http_get("localhost", server.port(), "/livez", limit).status == 200);
  CHECK_THROWS_WITH(http_get("no.such.host.invalid", server.port(), "/livez", limit),
                    Contains("http://no.such.host.invalid:"));
}

}  // namespace troupe::command
