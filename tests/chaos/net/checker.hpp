#pragma once
// Judges the history of a run with faults.

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tests/chaos/net/record.hpp"

namespace troupe::chaos {

/// How many calls of one kind were begun, and how they ended.
struct call_tally {
  std::int64_t begun = 0, answered = 0;
  std::int64_t cut = 0;  ///< The process of the caller ended before the call did.
  std::map<std::string, std::int64_t> failed;  ///< By the kind of the error.
};

/// The recoveries from the faults of one kind, in seconds after the end of the fault.
struct recovery {
  double limit = 0;           ///< The stated time.
  std::vector<double> times;  ///< Sorted; without those that never recovered.
  std::int64_t faults = 0;
};

struct verdict {
  std::map<std::string, call_tally> calls;     ///< By the kind of call.
  std::map<std::string, recovery> recoveries;  ///< By the kind of fault.
  std::int64_t hung = 0;                       ///< Calls that did not end in time.
  std::int64_t lost = 0;                       ///< What was acknowledged and is not there.
  std::int64_t doubled = 0;          ///< Calls that are not idempotent and were executed twice.
  std::int64_t overlapping = 0;      ///< Exclusive sessions of one replica that overlap.
  std::int64_t stale = 0;            ///< Reads of a version older than acknowledged.
  std::int64_t wrong = 0;            ///< Wrong answers, and records that contradict each other.
  std::int64_t down = 0;             ///< Calls that ended as service_down.
  std::int64_t late = 0;             ///< Faults whose recovery took more than twice the limit.
  bool finished = false;             ///< The last controller has written everything.
  std::vector<std::string> details;  ///< A sentence for each finding, at most `details_max`.

  static constexpr std::size_t details_max = 50;

  /// True if nothing was found.
  bool holds() const;
};

/// The time after its deadline within which a call ends, in seconds. The time for which its process
/// was stopped is added.
inline constexpr double end_grace = 2;
/// A recovery may take so many times the stated limit.
inline constexpr double recovery_factor = 2;

/// Judges the records of all processes of a run, in any order.
verdict judge(std::vector<record> history);

nlohmann::json to_json(const verdict& of);
/// Prints the counts, the recoveries and the findings.
void print(const verdict& of);

}  // namespace troupe::chaos
