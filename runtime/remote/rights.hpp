#pragma once
// Says which messages each side of a link may send. Every received message is checked
// (connection.cpp); the replicas and services that it names are checked where it is handled
// (exports, imports). docs/operations/security.md has the whole table. Internal to runtime/.

#include <string>
#include <string_view>

#include "runtime/remote/message.hpp"

namespace troupe::detail {

/// The side of a link. A host lets a guest run its roles: a controller is the host of a node, and a
/// process is the host of its child. Handles that the host sends along name its services. A
/// resident is a guest that waits for another host when its link is lost.
enum class link_side { host, guest, resident };

enum class sender { host, guest, both };

struct message_right {
  std::string_view name;
  sender by;
};

constexpr message_right right_to(message_kind kind) {
  switch (kind) {
    // The host sends these.
    case message_kind::make:
      return {"make", sender::host};
    case message_kind::measure:
      return {"measure", sender::host};
    case message_kind::ask_waits:
      return {"ask_waits", sender::host};
    case message_kind::end_wait:
      return {"end_wait", sender::host};
    case message_kind::table:
      return {"table", sender::host};
    case message_kind::closed:
      return {"closed", sender::host};
    case message_kind::opened:
      return {"opened", sender::host};
    // The guest sends these.
    case message_kind::watch:
      return {"watch", sender::guest};
    case message_kind::import:
      return {"import", sender::guest};
    case message_kind::measured:
      return {"measured", sender::guest};
    case message_kind::waits:
      return {"waits", sender::guest};
    case message_kind::open:
      return {"open", sender::guest};
    case message_kind::release:
      return {"release", sender::guest};
    // Both send these, about replicas that the other side has a number for.
    case message_kind::call:
      return {"call", sender::both};
    case message_kind::cancel:
      return {"cancel", sender::both};
    case message_kind::drop:
      return {"drop", sender::both};
    case message_kind::ping:
      return {"ping", sender::both};
    case message_kind::serves:
      return {"serves", sender::both};
    case message_kind::pong:
      return {"pong", sender::both};
    case message_kind::result:
      return {"result", sender::both};
    case message_kind::error:
      return {"error", sender::both};
    case message_kind::ended:
      return {"ended", sender::both};
  }
  // The constructor of message has refused such a kind.
  return {"what is no message", sender::host};
}

constexpr bool may_receive(link_side mine, message_kind kind) {
  const auto by = right_to(kind).by;
  return by == sender::both || (by == sender::guest) == (mine == link_side::host);
}

/// Throws wire_error for a message that the other side must not send: "make, which only a
/// controller may send".
inline void check_right(link_side mine, message_kind kind) {
  if (may_receive(mine, kind)) return;
  const auto right = right_to(kind);
  throw wire_error(
      std::string(right.name) + ", which only " +
      (right.by == sender::host ? "a controller may send" : "a node or a child may send"));
}

}  // namespace troupe::detail
