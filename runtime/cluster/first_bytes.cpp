#include "runtime/cluster/first_bytes.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "runtime/base/utf8.hpp"

namespace troupe::detail {

namespace {

/// A TLS record of a handshake begins with 22 and 3 (RFC 8446, 5.1).
constexpr std::string_view record = "\x16\x03";
/// The magic without its version.
constexpr std::string_view any_version = stream_magic.substr(0, stream_magic.find('/') + 1);

/// True if one text is the beginning of the other.
bool agree(std::string_view a, std::string_view b) {
  const auto n = std::min(a.size(), b.size());
  return a.substr(0, n) == b.substr(0, n);
}

std::string what_it_is(std::string_view first) {
  constexpr std::array<std::string_view, 6> methods{"GET ", "POST ",    "HEAD ",
                                                    "PUT ", "OPTIONS ", "CONNECT "};
  if (first.starts_with("PRI * HTTP/2")) return "HTTP/2, which older builds speak";
  if (std::ranges::any_of(methods, [&](auto each) { return first.starts_with(each); })) {
    return "HTTP";
  }
  if (first.starts_with(record))
    return "TLS, which one side has certificates for and the other none";
  return "other bytes";
}

}  // namespace

bool may_be_a_peer(std::string_view first) { return agree(first, any_version); }

std::optional<join_refusal> judge_first_bytes(std::string_view first, bool tls) {
  if (agree(first, tls ? record : stream_magic)) return {};
  if (tls && may_be_a_peer(first)) {
    return join_refusal{"plain_text", "expected TLS, got plain text"};
  }
  if (tls) return join_refusal{"garbage", "expected TLS, got " + what_it_is(first)};
  if (may_be_a_peer(first)) {
    return join_refusal{"protocol", "expected the link protocol " + std::string(stream_magic) +
                                        ", got " + printable(first, stream_magic.size())};
  }
  return join_refusal{"garbage", "expected a process of Troupe and the link protocol " +
                                     std::string(stream_magic) + ", got " + what_it_is(first)};
}

}  // namespace troupe::detail
