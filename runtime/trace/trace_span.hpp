#pragma once

#include <string_view>

#include "runtime/trace/trace.hpp"

namespace troupe {

/// Marks what an actor does from here to the end of the scope, which may hold co_awaits:
///
///   const trace_span mine("rollouts", "rollout");
///
/// In the trace it is a slice `what`, and the calls that are awaited in it are drawn inside it. It
/// lies within the call that the actor works on, or else on rows of its own, "rollouts 0" and on,
/// as many as go on at once. Nothing where the system has no trace.
class trace_span {
 public:
  /// Throws std::logic_error outside of an actor.
  trace_span(std::string_view rows, std::string_view what);
  trace_span(const trace_span&) = delete;
  ~trace_span();

 private:
  detail::strand& home_;
  detail::trace_lane* lane_;
  detail::trace_slice slice_;
};

}  // namespace troupe
