#pragma once
// The messages that two processes send each other about replicas. A replica has a number on its
// link. The importing side, whose callers reach it through a remote replica, chooses the number.
//
//   importer                                    exporter
//     make n, build, role    ────────────────>    makes a role for it
//     import n, service, serial ─────────────>    shows one that serves there already
//                            <────────────────  serves n
//     call n, id, arguments  ────────────────>
//     cancel n, id           ────────────────>
//                            <────────────────  result n, id / error n, id
//                            <────────────────  ended n, reason
//     drop n, why            ────────────────>    a role that was made for it ends
//     ping n                 ────────────────>
//                            <────────────────  pong n, and whether it has gone on since the last
//     ask_waits n            ────────────────>    which calls it works on, and which wait
//                            <────────────────  waits n, a wait_report
//     end_wait n, id, members ───────────────>    the work with that slice waits in a cycle
//     watch name             ────────────────>    tells of a service's replicas from here on
//                            <────────────────  table name, replicas / closed name, reason
//     open id, name          ────────────────>    grants a session of a service, once one is free
//                            <────────────────  opened id, its replica or why there is none
//     release id             ────────────────>    the session has ended, or is waited for no more
//     measure id             ────────────────>    what its process counts, children included
//                            <────────────────  measured id, metric families
//
// The file rights.hpp says which side may send which message.

#include <cstdint>
#include <cstring>

#include "runtime/coroutine/strand.hpp"
#include "runtime/service/options/options.hpp"
#include "runtime/wire/block.hpp"
#include "runtime/wire/codec.hpp"

namespace troupe::detail {

enum class message_kind : std::uint8_t {
  // The importer sends these to the exporter.
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
  ask_waits,
  end_wait,
  // The exporter sends these to the importer.
  serves,
  pong,
  waits,
  result,
  error,
  ended,
  table,
  closed,
  opened,
  measured,
};

/// The way in which a call without a result ended; the `what` of an error message.
enum class ending : std::uint32_t {
  threw,    ///< The endpoint threw.
  overran,  ///< It was cancelled after max_call_time.
  refused,  ///< It never began, or its result could not be sent.
};

/// The answer to `open`; the `what` of an opened message.
enum class answer_to_open : std::uint32_t {
  granted,  ///< The body is the table_entry of the granted replica.
  refused,  ///< The body is the error.
};

/// Why the other side drops a replica; the `what` of a drop message.
enum class drop_as : std::uint32_t {
  gone,      ///< Nothing is told of the end.
  replaced,  ///< Another replica is about to take its place, so `ended` tells when it has ended.
};

/// The answer to a ping; the `what` of a pong.
enum class alive : std::uint32_t {
  process,  ///< The replica is still in the turn of the last ping, so only its process is alive.
  replica,  ///< The replica is in another turn or in none.
};

/// The header of each message. The body depends on its kind.
struct message_header {
  static constexpr std::uint16_t current = 6;
  static constexpr std::int64_t no_deadline = -1;

  std::uint16_t protocol = current;
  message_kind kind{};
  std::uint8_t control = 0;    ///< 1 if the message doesn't queue behind work.
  std::uint32_t replica = 0;   ///< The replica's number on this link.
  std::uint64_t sequence = 0;  ///< Counts the messages of this urgency in this direction.
  /// The id of a call, its result and its cancellation, of `measure`, or of a session; the slice of
  /// work in `end_wait`.
  std::uint64_t id = 0;
  std::uint32_t what = 0;  ///< One of the enums above; the upper half of the key in call and make.
  std::uint32_t key_low = 0;            ///< The lower half of that key.
  std::int64_t deadline = no_deadline;  ///< The time left to a call or `open`, in nanoseconds.
  /// The version of the role, in `serves` and in a result; the strand::slice that awaits it, in
  /// `call` and in `open`.
  std::int64_t version = any_version;

  std::uint64_t slice() const { return static_cast<std::uint64_t>(version); }
  void set_slice(std::uint64_t slice) { version = static_cast<std::int64_t>(slice); }
  /// The key of a call's kind or of the constructor of `make`; see call_registry.hpp.
  std::uint64_t key() const { return std::uint64_t{what} << 32 | key_low; }
  void set_key(std::uint64_t key) {
    what = static_cast<std::uint32_t>(key >> 32);
    key_low = static_cast<std::uint32_t>(key);
  }
};
static_assert(sizeof(message_header) == 48);

/// A message that has been received.
class message {
 public:
  /// Throws wire_error.
  explicit message(block bytes);

  message_header header;
  /// The size in bytes, header included.
  std::size_t size() const { return bytes_.size(); }
  wire_reader body(wire_context context = {}) const {
    return wire_reader(bytes_.bytes().subspan(sizeof(message_header)), context);
  }

 private:
  block bytes_;
};

}  // namespace troupe::detail
