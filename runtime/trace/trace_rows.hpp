#pragma once
// Where the slices of a trace are drawn. Internal to runtime/.

#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/trace/trace.hpp"

namespace troupe::detail {

/// One line of the picture. Its slices don't overlap, but for those within another.
struct trace_row {
  std::string name;  ///< "trainer 0", "trainer 0 waits", "rollouts 1"
  std::vector<trace_slice> slices;
};

/// An end of an arrow from who waits for a call to who executes it.
struct trace_place {
  std::size_t row;  ///< Index.
  time_point at;
};

struct trace_picture {
  std::vector<trace_row> rows;  ///< An actor's follow each other, a service's replicas, too.
  std::unordered_map<std::uint64_t, trace_place> waits;           ///< By the call's id.
  std::vector<std::pair<std::uint64_t, trace_place>> executions;  ///< With the call's id.
};

/// Executions of one lane lie on one row, and on more where several go on at once; waits lie within
/// the execution or span that they are a part of, else on rows of their own. Lanes of one name, as
/// a replica and its successor, share rows.
trace_picture draw(const trace& of);

}  // namespace troupe::detail
