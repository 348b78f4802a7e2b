#include "actors/openenv/server/origin_check.hpp"

#include "tests/test.hpp"

namespace troupe::openenv_server {
namespace {

using Catch::Contains;

TEST_CASE("origin check: a loopback server is asked by a loopback name") {
  const origin_check check("127.0.0.1", {});
  for (const char* host :
       {"localhost", "localhost:8000", "LOCALHOST", "127.0.0.1:8000", "127.1.2.3", "[::1]:8000"}) {
    CAPTURE(host);
    CHECK(check.refusal(host, "") == "");
  }
  for (const char* host :
       {"", "evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example",
        "10.0.0.7", "localhost:8000@evil.example", "localhost/evil", "[::1", ":8000", "a b"}) {
    CAPTURE(host);
    CHECK_THAT(check.refusal(host, ""), Contains("as the Host") && Contains(host));
  }
}

TEST_CASE("origin check: a server for others is asked by any name") {
  for (const char* address : {"0.0.0.0", "::", "10.0.0.7"}) {
    const origin_check check(address, {});
    CHECK(check.refusal("games.example:8000", "") == "");
    CHECK(check.refusal("", "") == "");
    CHECK_THAT(check.refusal("games.example:8000", "https://evil.example"), Contains("Origin"));
  }
}

TEST_CASE("origin check: a page of another server is refused") {
  const origin_check check("::1", {});
  CHECK(check.refusal("localhost:8000", "http://localhost:8000") == "");
  CHECK(check.refusal("localhost", "http://localhost") == "");
  CHECK(check.refusal("localhost", "https://localhost") == "");
  for (const char* origin :
       {"http://localhost:3000", "http://127.0.0.1:8000", "https://localhost:8001", "null",
        "http://evil.example", "file://", "chrome-extension://abc", "http://localhost:8000/page",
        "http://localhost:8000.evil.example", "localhost:8000", "\xff"}) {
    CAPTURE(origin);
    CHECK_THAT(check.refusal("localhost:8000", origin), Contains("Origin"));
  }
}

TEST_CASE("origin check: an allowed origin may ask, by its own name too") {
  const origin_check check("127.0.0.1", {"https://Games.example", "http://localhost:3000/"});
  CHECK(check.refusal("localhost:8000", "https://games.example") == "");
  CHECK(check.refusal("localhost:8000", "http://localhost:3000") == "");
  CHECK(check.refusal("games.example", "https://games.example") == "");
  CHECK_THAT(check.refusal("localhost:8000", "http://games.example"), Contains("Origin"));
  CHECK_THAT(check.refusal("localhost:8000", "https://more.games.example"), Contains("Origin"));
  CHECK_THAT(check.refusal("more.games.example", ""), Contains("Host"));
  const origin_check any("127.0.0.1", {"*"});
  CHECK(any.refusal("evil.example", "http://evil.example") == "");
}

TEST_CASE("origin check: what is no origin can't be allowed") {
  for (const char* text : {"", "games.example", "https://", "https://a/b", "ftp://a", "https://a:0",
                           "https://*.example"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(origin_check("127.0.0.1", {text}), Contains("expected the origin of a page"));
  }
}

}  // namespace
}  // namespace troupe::openenv_server
