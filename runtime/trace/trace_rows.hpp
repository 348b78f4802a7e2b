#pragma once
// Assigns the slices of a trace to the rows of a drawing. Internal to runtime/.

#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/trace/trace.hpp"

namespace troupe::detail {

/// One row of the drawing. Its slices don't overlap, but a slice may contain others.
struct trace_row {
  std::string name;  ///< "trainer 0", "trainer 0 waits", "rollouts 1"
  std::vector<trace_slice> slices;
};

/// One end of an arrow from the wait for a call to its execution.
struct trace_place {
  std::size_t row;  ///< The index of the row.
  time_point at;
};

struct trace_picture {
  /// The rows of an actor are neighbours, and so are the replicas of a service.
  std::vector<trace_row> rows;
  /// The waits by the ids of their calls.
  std::unordered_map<std::uint64_t, trace_place> waits;
  /// The executions with the ids of their calls.
  std::vector<std::pair<std::uint64_t, trace_place>> executions;
};

/// Makes the drawing of a trace. The executions of one lane are on one row, or on several rows if
/// they overlap. A wait is inside the execution or span that contains it, or else on a row of its
/// own. Lanes of the same name, such as those of a replica and its successor, share rows.
trace_picture draw(const trace& of);

}  // namespace troupe::detail
