#pragma once
// What processes write down while faults are injected: one line of JSON for each record.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::chaos {

/// What a record says.
enum class record_kind {
  begun,         ///< A call is about to be made.
  ended,         ///< The await of a call has ended.
  executed,      ///< A replica executes a call.
  held,          ///< An exclusive session has been acquired.
  released,      ///< It is about to be released, or its holder has learned that it is lost.
  acknowledged,  ///< Every replica has taken a version.
  kept,          ///< An item is in the ledger at the end.
  finished,      ///< The process has written everything that it had to write.
  paused,        ///< A process was stopped by SIGSTOP from `at` to `until`.
  fault,         ///< A fault lasted from `at` to `until`.
};

/// The fields that a kind does not need have their defaults and are not written.
struct record {
  record_kind what = record_kind::begun;
  double at = 0;              ///< Seconds of the monotonic clock, which all processes share.
  std::int64_t process = 0;   ///< The process that wrote the record; of `paused`, the stopped one.
  std::string id = {};        ///< Of the call, the session or the item; of a fault, its victims.
  std::string kind = {};      ///< Of the call or of the fault, such as "read" or "stop node".
  bool once = false;          ///< begun: the call is not idempotent.
  double deadline = 0;        ///< begun: in seconds.
  bool ok = false;            ///< ended: with an answer.
  std::string error = {};     ///< ended: the kind of the error.
  std::int64_t value = 0;     ///< ended: the answer; acknowledged: the version.
  std::int64_t expected = 0;  ///< ended: the right answer, for calls that have one.
  std::string where = {};     ///< executed, held, released: the replica, by a name of its own.
  std::string session = {};   ///< executed: the exclusive session in which the call came, if any.
  double until = 0;           ///< paused, fault: its end.
  double recovered = -1;      ///< fault: when everything served again; -1 means never.
  double limit = 0;           ///< fault: the stated time for that, in seconds after its end.

  bool operator==(const record&) const = default;
};

/// Returns the record as a line with its end.
std::string to_line(const record& of);

/// Reads the lines of one file. A process that is killed may leave a part of a line at the end,
/// which is ignored. Throws std::runtime_error that names the file and the line of any other text
/// that is not a record.
std::vector<record> read_records(std::string_view text, const std::string& file);

}  // namespace troupe::chaos
