#pragma once
// The file format of traces.

#include <iosfwd>

#include "runtime/trace/trace.hpp"

namespace troupe {

/// Writes a trace in Chrome's trace-event format (JSON object form), which chrome://tracing and
/// https://ui.perfetto.dev open. Times are in microseconds after the first slice. The systems that
/// wrote to the trace must have ended. The phases are:
///
///   X   a slice: `args.outcome` where it is not ok, `args.calls` of a batch
///   s,f the ends of an arrow from who waits for a call to who executes it; never one alone
///   i   a mark, such as a crash, and where the trace is full
///   M   names and order of the rows
///
/// Source: "Trace Event Format",
/// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
void write_trace(const trace& of, std::ostream& to);

}  // namespace troupe
