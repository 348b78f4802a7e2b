#pragma once
// The first bytes of a stream between two processes, from each side. In TLS they come after the
// handshake.

#include <optional>
#include <string_view>

#include "runtime/cluster/refusal.hpp"

namespace troupe::detail {

/// Names the protocol and its version.
inline constexpr std::string_view stream_magic = "troupe/1";

/// True if the bytes may be those of a peer of any version, in plain text.
bool may_be_a_peer(std::string_view first);

/// Returns why the sender of these bytes isn't a peer; nothing if it may be. `first` may be only a
/// part of the magic. `tls` is true if a TLS handshake must come first.
std::optional<join_refusal> judge_first_bytes(std::string_view first, bool tls);

}  // namespace troupe::detail
