#pragma once
// What the two processes say of themselves before a stream between them carries a link. Without
// certificates a challenge comes first: join_secret.hpp.

#include <string>
#include <string_view>

#include "runtime/cluster/incarnation.hpp"

namespace troupe::detail {

/// Who speaks.
struct hello {
  static constexpr int protocol_spoken = 2;

  int protocol = protocol_spoken;
  std::string build;  ///< build_id()
  incarnation self;
  std::string name;   ///< 1 to 64 letters, digits, '-', '_' and '.'
  std::string role;   ///< "node" or "controller"
  int slots = 0;      ///< Replicas that a node takes; 0: as many as there are cores.
  std::string proof;  ///< Of a caller without certificates, that it knows the join secret.
};

/// Throws std::invalid_argument where `text` is no name of a peer.
void check_peer_name(std::string_view text);

/// As JSON.
std::string to_text(const hello& of);
/// Throws std::invalid_argument naming the field for what is no hello, or longer than 4 KiB. One
/// of another protocol is read as far as `protocol`, `build` and `proof`.
hello parse_hello(std::string_view text);

/// Why the sender of `theirs` can't be talked to by that of `ours`; empty where it can.
std::string disagreement(const hello& ours, const hello& theirs);

}  // namespace troupe::detail
