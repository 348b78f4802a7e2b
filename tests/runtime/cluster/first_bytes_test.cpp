// Who is a peer by its first bytes.

#include "runtime/cluster/first_bytes.hpp"

#include "tests/test.hpp"

namespace troupe::detail::testing {
namespace {

std::string why(std::string_view first, bool tls) {
  const auto no = judge_first_bytes(first, tls);
  return no ? no->reason + ": " + no->text : "";
}

TEST_CASE("first bytes: any beginning of the magic may be that of a peer") {
  for (std::size_t n = 1; n <= stream_magic.size(); ++n) {
    CHECK(why(stream_magic.substr(0, n), false).empty());
  }
  CHECK(why(std::string(stream_magic) + "more", false).empty());
  CHECK(why("\x16\x03\x01", true).empty());
  CHECK(why("\x16", true).empty());
}

TEST_CASE("first bytes: another version, other protocols and the wrong security are named") {
  CHECK(why("troupe/2\n", false) ==
        "protocol: expected the link protocol troupe/1, got troupe/2...");
  CHECK(why("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false)
            .ends_with("got HTTP/2, which older builds speak"));
  CHECK(why("GET / HTTP/1.1\r\n", false).ends_with("got HTTP"));
  CHECK(why("GET / HTTP/1.1\r\n", true) == "garbage: expected TLS, got HTTP");
  CHECK(why("\x16\x03\x01\x02", false)
            .ends_with("got TLS, which one side has certificates for and the other none"));
  CHECK(why("\x7f"
            "ELF",
            false)
            .ends_with("got other bytes"));
  CHECK(why("troupe/1", true) == "plain_text: expected TLS, got plain text");
}

}  // namespace
}  // namespace troupe::detail::testing
