#pragma once
// The hello that each of two processes sends before a stream between them carries a link. Without
// certificates a challenge comes first (join_secret.hpp).

#include <optional>
#include <string>
#include <string_view>

#include "runtime/cluster/incarnation.hpp"

namespace troupe::detail {

/// The description that a process sends of itself.
struct hello {
  static constexpr int protocol_spoken = 2;

  int protocol = protocol_spoken;
  std::string build;  ///< The build_id() of the sender.
  incarnation self;
  std::string name;   ///< 1 to 64 letters, digits, '-', '_' and '.'.
  std::string role;   ///< "node" or "controller".
  int slots = 0;      ///< The replicas that a node takes; 0 means one per core.
  std::string proof;  ///< The proof of a caller without certificates that it knows the join secret.
};

/// Throws std::invalid_argument if `text` isn't a valid name of a peer.
void check_peer_name(std::string_view text);

/// Writes a hello as JSON.
std::string to_text(const hello& of);
/// Reads a hello. Throws a std::invalid_argument that names the field if the text isn't a hello or
/// is longer than 4 KiB. From a hello of another protocol only `protocol`, `build` and `proof` are
/// read.
hello parse_hello(std::string_view text);

// A listener says this in place of its hello or its challenge, if it doesn't admit the caller.

/// Writes a refusal as JSON. The text is shortened to about 1 KB.
std::string refusal_text(const std::string& why);
/// Reads a refusal, in a form that is safe in messages. Returns nothing for any other text.
std::optional<std::string> parse_refusal(std::string_view text);

/// Returns why the sender of `ours` can't talk to the sender of `theirs`; empty if it can.
std::string disagreement(const hello& ours, const hello& theirs);

}  // namespace troupe::detail
