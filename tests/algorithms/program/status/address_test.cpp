#include "algorithms/program/status/address.hpp"

#include <chrono>
#include <stdexcept>

#include "algorithms/program/http_get.hpp"
#include "runtime/metrics/metrics_server.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/test.hpp"

namespace troupe::command {

TEST_CASE("status: addresses are read as people type them") {
  CHECK(parse_address("localhost", 9464).text() == "localhost:9464");
  CHECK(parse_address("10.0.0.7:9465", 9464).text() == "10.0.0.7:9465");
  CHECK(parse_address("http://gpu-1:1/metrics", 9464).text() == "gpu-1:1");
  CHECK(parse_address("http://gpu-1/", 9464).text() == "gpu-1:9464");
  CHECK(parse_address("[::1]:9464", 1).text() == "[::1]:9464");
  CHECK(parse_address("[::1]", 7).host == "::1");
}

TEST_CASE("status: what is no address is refused") {
  for (const char* text : {"", ":1", "host:", "host:0", "host:65536", "host:-1", "host:12x", "[::1",
                           "[::1]9464", "a b", "user@host", "http://host/other", "https://host"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_address(text, 9464), std::invalid_argument);
  }
}

TEST_CASE("status: a host is asked by its name, at each of its addresses") {
  metrics_registry metrics;
  const metrics_server server(metrics, {.address = "127.0.0.1", .port = 0});
  for (const auto* host : {"127.0.0.1", "localhost"}) {
    CHECK(http_get(host, server.port(), "/livez", std::chrono::seconds(5)).status == 200);
  }
  // The address of a request is in brackets in its Host, or the server would refuse it.
  CHECK(http_get("::ffff:127.0.0.1", server.port(), "/livez", std::chrono::seconds(5)).status ==
        200);
  CHECK_THROWS_WITH(http_get("no.such.host.invalid", 1, "/livez", std::chrono::seconds(5)),
                    Catch::StartsWith("http://no.such.host.invalid:1/livez: "));
  CHECK_THROWS_WITH(http_get("::1", 1, "/livez", std::chrono::seconds(5)),
                    Catch::StartsWith("http://[::1]:1/livez: "));
}

}  // namespace troupe::command
