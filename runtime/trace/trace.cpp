#include "runtime/trace/trace.hpp"

#include <algorithm>

#include "runtime/base/log.hpp"

namespace troupe {

namespace detail {

std::uint64_t trace_lane::new_id() {
  return whole_.last_id_.fetch_add(1, std::memory_order_relaxed) + 1;
}

void trace_lane::add(trace_slice slice) {
  slice.begin += offset_;
  slice.end = std::max(slice.begin, slice.end + offset_);
  if (whole_.take_room(slice.begin)) slices_.push_back(slice);
}

std::string_view trace_lane::keep(std::string_view text) {
  const auto known = texts_.find(text);
  return known != texts_.end() ? *known : *texts_.emplace(text).first;
}

}  // namespace detail

std::size_t trace::size() const noexcept {
  return std::min(limit_, taken_.load(std::memory_order_relaxed));
}

std::optional<time_point> trace::full_since() const {
  std::lock_guard lock(mutex_);
  return full_since_;
}

bool trace::take_room(time_point now) {
  if (taken_.load(std::memory_order_relaxed) <= limit_) {
    const auto before = taken_.fetch_add(1, std::memory_order_relaxed);
    if (before < limit_) return true;
    if (before == limit_) {
      log::warn("the trace is full; later slices are not recorded", {{"slices", limit_}});
      std::lock_guard lock(mutex_);
      full_since_ = now;
    }
  }
  return false;
}

void trace::begin_system(bool virtual_time) {
  std::lock_guard lock(mutex_);
  offset_ = duration(0);
  if (!virtual_time) return;
  for (const auto& lane : lanes_) {
    for (const auto& slice : lane.slices()) {
      offset_ = std::max(offset_, slice.end.time_since_epoch());
    }
  }
}

detail::trace_lane& trace::add_lane(std::string group, std::optional<std::size_t> index) {
  std::lock_guard lock(mutex_);
  return lanes_.emplace_back(*this, std::move(group), index, offset_);
}

}  // namespace troupe
