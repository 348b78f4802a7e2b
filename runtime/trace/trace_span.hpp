#pragma once
// Lets a program mark a span of its own work in the trace.

#include <string_view>

#include "runtime/trace/trace.hpp"

namespace troupe {

/// Marks the work of an actor from here to the end of the scope, which may contain co_awaits:
///
///   const trace_span mine("rollouts", "rollout");
///
/// In the trace the span is a slice named `what`, and calls that are awaited in it are drawn inside
/// it. The span is inside the call that the actor works on, or else on rows of its own, "rollouts
/// 0" and so on, as many as there are overlapping spans. It does nothing if the system has no
/// trace.
class trace_span {
 public:
  /// Begins a span `what` on the rows named `rows`. Throws std::logic_error outside of an actor.
  trace_span(std::string_view rows, std::string_view what);
  trace_span(const trace_span&) = delete;
  ~trace_span();

 private:
  detail::strand& home_;
  detail::trace_lane* lane_;
  detail::trace_slice slice_;
};

}  // namespace troupe
