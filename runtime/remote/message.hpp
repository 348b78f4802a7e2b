#pragma once
// What two processes tell each other about replicas. A replica has a number on its link, given by
// the side that imports it: the side whose callers reach it by a stand-in.
//
//   importer                                    exporter
//     make n, service, role  ────────────────>    makes a role for it
//     import n, service, serial ─────────────>    shows one that serves there already
//                            <────────────────  serves n
//     call n, id, arguments  ────────────────>
//     cancel n, id           ────────────────>
//                            <────────────────  result n, id / error n, id
//                            <────────────────  ended n, reason
//     drop n                 ────────────────>    a role that was made for it ends
//     ping n                 ────────────────>
//                            <────────────────  pong n, and whether it has gone on since the last
//     watch name             ────────────────>    tells of a service's replicas from here on
//                            <────────────────  table name, replicas / closed name, reason
//     open id, name          ────────────────>    grants a session of a service, once one is free
//                            <────────────────  opened id, its replica or why there is none
//     release id             ────────────────>    the session has ended, or is waited for no more
//     measure id             ────────────────>    what its process counts, children included
//                            <────────────────  measured id, metric families
//
// Which side may send what is in rights.hpp.

#include <cstdint>
#include <cstring>

#include "runtime/coroutine/strand.hpp"
#include "runtime/service/options/options.hpp"
#include "runtime/wire/block.hpp"
#include "runtime/wire/codec.hpp"

namespace troupe::detail {

enum class message_kind : std::uint8_t {
  // To the exporter.
  make,
  import,
  call,
  cancel,
  drop,
  watch,
  ping,
  measure,
  open,
  release,
  // To the importer.
  serves,
  pong,
  result,
  error,
  ended,
  table,
  closed,
  opened,
  measured,
};

/// How a call ended that has no result; an error message's `what`.
enum class ending : std::uint32_t {
  threw,    ///< The endpoint threw.
  overran,  ///< It was cancelled after max_call_time.
  refused,  ///< It never began, or its result could not be sent.
};

/// What comes of `open`; an opened message's `what`.
enum class answer_to_open : std::uint32_t {
  granted,  ///< The body is a table_entry: its replica's.
  refused,  ///< The body is the error.
};

/// What a process that answers a ping knows of the replica; a pong's `what`.
enum class alive : std::uint32_t {
  process,  ///< The replica is in the turn that it was in at the ping before.
  replica,  ///< It is not.
};

/// In front of each message; what follows depends on its kind.
struct message_header {
  static constexpr std::uint16_t current = 4;
  static constexpr std::int64_t no_deadline = -1;

  std::uint16_t protocol = current;
  message_kind kind{};
  std::uint8_t control = 0;    ///< 1: it doesn't queue behind work.
  std::uint32_t replica = 0;   ///< Its number on this link.
  std::uint64_t sequence = 0;  ///< Of all messages of this urgency in this direction.
  std::uint64_t id =
      0;  ///< Of a call, its result and its cancellation; of `measure`; of a session.
  std::uint32_t what = 0;  ///< Of a call its kind's number, of `make` the recipe's; see above.
  std::uint32_t hash = 0;  ///< ... and its hash.
  std::int64_t deadline = no_deadline;  ///< Of a call or `open`: nanoseconds from now on.
  std::int64_t version = any_version;   ///< Of `serves` and a result: the role's.
};
static_assert(sizeof(message_header) == 48);

/// A message that has come.
class message {
 public:
  /// Throws wire_error.
  explicit message(block bytes);

  message_header header;
  wire_reader body(wire_context context = {}) const {
    return wire_reader(bytes_.bytes().subspan(sizeof(message_header)), context);
  }

 private:
  block bytes_;
};

}  // namespace troupe::detail
