#include "runtime/net/own_hosts.hpp"

#include <utility>

#include "tests/test.hpp"

namespace troupe::detail {
namespace {

using Catch::Contains;

bool leads_back(const std::string& address) {
  const auto read = parse_host(address);
  return read && is_loopback(read->host);
}

TEST_CASE("own hosts: an address is parsed, and its beginning decides nothing") {
  for (const char* address : {"localhost:7777", "LOCALHOST:7777", "localhost.:7777", "localhost",
                              "127.0.0.1:7777", "127.1.2.3:7777", "[::1]:7777", "[::1]",
                              "[::ffff:127.0.0.1]:7777", "[0:0:0:0:0:0:0:1]:7777"}) {
    CAPTURE(address);
    CHECK(leads_back(address));
  }
  for (const char* address : {"127.example.invalid:7777",
                              "127.0.0.1.example.invalid:7777",
                              "127.:7777",
                              "localhost.example.invalid:7777",
                              "localhost:@example.invalid",
                              "localhost:7777:1",
                              "localhost:99999",
                              "localhost:",
                              "[::1].example.invalid:7777",
                              "[::1:7777",
                              "[localhost]:1",
                              "::1:7777",
                              "[::ffff:10.0.0.1]:7777",
                              "[::]:7777",
                              "0.0.0.0:7777",
                              "10.0.0.1:7777",
                              "",
                              ":7777",
                              "127.0.0.1\n",
                              "127.0.0.1 :7777",
                              "user@127.0.0.1:7777"}) {
    CAPTURE(address);
    CHECK_FALSE(leads_back(address));
  }
  CHECK_FALSE(leads_back(std::string("127.0.0.1\0.example.invalid:7777", 31)));
  CHECK_FALSE(is_loopback(std::string_view("127.0.0.1\0.example", 18)));
}

TEST_CASE("own hosts: a server at a loopback address is asked by a name of loopback") {
  const own_hosts here("127.0.0.1", {}, "--allow");
  for (const char* host : {"localhost", "localhost:8000", "LOCALHOST", "127.0.0.1:8000",
                           "127.1.2.3", "[::1]:8000", "[::ffff:127.0.0.1]"}) {
    CAPTURE(host);
    CHECK(here.allows(host));
  }
  for (const char* host :
       {"", "evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example",
        "10.0.0.7", "localhost:8000@evil.example", "localhost/evil", "[::1", ":8000", "a b", "gpu",
        "2130706433", "0x7f.1"}) {
    CAPTURE(host);
    CHECK_FALSE(here.allows(host));
  }
}

TEST_CASE("own hosts: a server for others is asked by an address, or by a name of no public DNS") {
  for (const char* address : {"0.0.0.0", "::", "10.0.0.7"}) {
    const own_hosts here(address, {}, "--allow");
    for (const char* host : {"10.0.0.7:9464", "192.168.1.5", "[fd00::7]:9464", "controller:9464",
                             "gpu-1", "localhost:9464"}) {
      CAPTURE(host);
      CHECK(here.allows(host));
    }
    for (const char* host : {"rebound.evil.example:9464", "10.0.0.7.evil.example", "", "a b"}) {
      CAPTURE(host);
      CHECK_FALSE(here.allows(host));
    }
  }
}

TEST_CASE("own hosts: further names may be allowed, and what is no name may not") {
  const own_hosts some("127.0.0.1", {"Games.example", "10.0.0.7", "[fd00::7]"}, "--allow");
  for (const char* host : {"games.example", "games.example:80", "10.0.0.7:8000", "[FD00::7]:1"})
    CHECK(some.allows(host));
  CHECK_FALSE(some.allows("more.games.example"));
  CHECK(own_hosts("127.0.0.1", {"*"}, "--allow").allows("anything.example"));
  for (const char* name : {"", "games.example:80", "https://games.example", "*.example", "a b"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH(own_hosts("127.0.0.1", {name}, "--allow"),
                      Contains("--allow: expected the name of a host"));
  }
}

/// What own_hosts uses of a request of Beast.
struct request {
  struct field {
    std::string text;
    const std::string& value() const { return text; }
  };
  using place = std::vector<field>::const_iterator;
  std::pair<place, place> equal_range(const char*) const { return {hosts.begin(), hosts.end()}; }
  unsigned version() const { return number; }

  std::vector<field> hosts;
  unsigned number = 11;
};

TEST_CASE("own hosts: a request has one Host, unless it is of HTTP/1.0") {
  const own_hosts here("127.0.0.1", {}, "--allow");
  const auto refusal = [&](std::vector<request::field> hosts, unsigned version = 11) {
    return here.refusal(request{std::move(hosts), version});
  };
  CHECK(refusal({{"localhost"}}) == "");
  CHECK(refusal({}) == "expected one field Host, got none");
  CHECK(refusal({{"localhost"}, {"localhost"}}) == "expected one field Host, got 2");
  CHECK(refusal({{"localhost"}, {"evil.example"}}, 10) == "expected one field Host, got 2");
  CHECK(refusal({}, 10) == "");
  CHECK_THAT(refusal({{"evil.example\x1b[2J"}}),
             Contains("expected localhost, 127.0.0.1 or [::1] as the Host") &&
                 Contains("--allow") && Contains("evil.example\\u001b[2J"));
}

}  // namespace
}  // namespace troupe::detail
