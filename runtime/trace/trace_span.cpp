#include "runtime/trace/trace_span.hpp"

#include "runtime/coroutine/strand.hpp"

namespace troupe {

trace_span::trace_span(std::string_view rows, std::string_view what)
    : home_(detail::strand::current()), lane_(home_.lane) {
  if (!lane_) return;
  slice_.group = lane_->keep(rows);
  slice_.name = lane_->keep(what);
  slice_.id = lane_->new_id();
  slice_.parent = std::exchange(home_.slice, slice_.id);
  slice_.begin = home_.now();
}

trace_span::~trace_span() {
  if (!lane_) return;
  slice_.end = home_.now();
  // If the span's coroutine is destroyed while it is suspended, another coroutine's slice is
  // current.
  if (home_.slice == slice_.id) home_.slice = slice_.parent;
  lane_->add(slice_);
}

}  // namespace troupe
