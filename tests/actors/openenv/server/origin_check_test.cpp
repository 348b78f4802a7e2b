#include "actors/openenv/server/origin_check.hpp"

#include "tests/test.hpp"

namespace troupe::openenv_server {
namespace {

using Catch::Contains;

TEST_CASE("origin check: a page of another server is refused") {
  const origin_check check({});
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
  const origin_check check({"https://Games.example", "http://localhost:3000/"});
  CHECK(check.refusal("localhost:8000", "https://games.example") == "");
  CHECK(check.refusal("localhost:8000", "http://localhost:3000") == "");
  CHECK(check.refusal("games.example", "https://games.example") == "");
  CHECK_THAT(check.refusal("localhost:8000", "http://games.example"), Contains("Origin"));
  CHECK_THAT(check.refusal("localhost:8000", "https://more.games.example"), Contains("Origin"));
  CHECK(check.hosts() == std::vector<std::string>{"games.example", "localhost"});
  CHECK(origin_check({"http://[::1]:3000"}).hosts() == std::vector<std::string>{"[::1]"});
  const origin_check any({"*"});
  CHECK(any.refusal("evil.example", "http://evil.example") == "");
}

TEST_CASE("origin check: what is no origin can't be allowed") {
  for (const char* text : {"", "games.example", "https://", "https://a/b", "ftp://a", "https://a:0",
                           "https://*.example"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(origin_check({text}), Contains("expected the origin of a page"));
  }
}

}  // namespace
}  // namespace troupe::openenv_server
