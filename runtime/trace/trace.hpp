#pragma once
// Records what the actors of a program do and when, for a trace viewer: which actor executes which
// call, which actor waits for which call, and the spans that a program marks itself
// (trace_span.hpp).
//
//   actor ── trace_lane ──┐
//   actor ── trace_lane ──┼── trace ── write_trace ──> Chrome's trace-event JSON
//   actor ── trace_lane ──┘
//
// Only one actor writes to a lane, so recording a slice needs no lock. A system without a trace has
// no lanes; a routed call then costs one additional comparison with null.

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "runtime/coroutine/strand.hpp"

namespace troupe {

class trace;

namespace detail {

/// An event on one lane that lasted from `begin` to `end`.
struct trace_slice {
  enum class kind : std::uint8_t {
    wait,       ///< A coroutine awaited a call of `group`'s endpoint `name`.
    execution,  ///< The endpoint `name` worked on one call.
    batch,      ///< The endpoint `name` worked on `count` calls.
    joined,     ///< A call that is part of the previous batch on this lane. Only `id` is set.
    span,       ///< A span `name` that the program marked, on rows called `group`.
    mark,       ///< An event `name` that happened at `begin`.
  };
  enum class outcome : std::uint8_t { ok, error, cancelled };

  kind what = kind::span;
  outcome how = outcome::ok;
  std::uint32_t count = 0;
  std::uint64_t id = 0;      ///< The slice's id; the wait for a call and its execution share one.
  std::uint64_t parent = 0;  ///< The id of the execution or span that contains it; 0 means none.
  time_point begin{};
  time_point end{};
  /// The lane owns this text, and `name` too unless it is the name of an endpoint.
  std::string_view group;
  std::string_view name;
};

/// The slices of one actor, in the order in which they were added. Only the actor may use the lane
/// until its system has ended.
class trace_lane {
 public:
  trace_lane(trace& whole, std::string group, std::optional<std::size_t> index, duration offset)
      : group(std::move(group)), index(index), whole_(whole), offset_(offset) {}
  trace_lane(const trace_lane&) = delete;

  /// Returns an id for a slice: unique in the trace, and larger than all ids before.
  std::uint64_t new_id();
  /// Adds a slice, unless the trace is full.
  void add(trace_slice slice);
  /// Returns a copy of `text` that lives as long as the lane.
  std::string_view keep(std::string_view text);

  /// The name of the service or actor, such as "trainer" or "main".
  const std::string group;
  /// The index of the replica; empty for an actor that is no replica.
  const std::optional<std::size_t> index;
  const std::deque<trace_slice>& slices() const noexcept { return slices_; }

 private:
  trace& whole_;
  const duration offset_;  ///< The place of the clock's zero in the trace.
  std::deque<trace_slice> slices_;
  std::set<std::string, std::less<>> texts_;
};

}  // namespace detail

/// Collects the slices of every system that has it in system_options::trace. Several systems may
/// use one trace, one after the other.
class trace {
 public:
  static constexpr std::size_t default_limit = 1'000'000;

  /// Keeps at most `limit` slices of 88 bytes each. When the trace is full, it logs one warning and
  /// drops further slices.
  explicit trace(std::size_t limit = default_limit) : limit_(limit) {}
  trace(const trace&) = delete;

  std::size_t limit() const noexcept { return limit_; }
  /// The number of slices that are kept, at most `limit`.
  std::size_t size() const noexcept;
  /// The time of the first slice that was dropped; empty if none was.
  std::optional<time_point> full_since() const;

  // The members below are for the runtime.
  /// Begins a system. Virtual time starts at zero in each system, so a system in virtual time is
  /// placed behind the end of the previous one.
  void begin_system(bool virtual_time);
  /// Adds the lane of an actor. It lives as long as the trace. Any thread may call it.
  detail::trace_lane& add_lane(std::string group, std::optional<std::size_t> index = std::nullopt);
  /// Returns every lane, in the order in which they were added. It may be called once their systems
  /// have ended.
  const std::deque<detail::trace_lane>& lanes() const noexcept { return lanes_; }

 private:
  friend class detail::trace_lane;
  /// Reserves room for one slice. Returns false if the trace is full.
  bool take_room(time_point now);

  const std::size_t limit_;
  /// The number of slices that were added. It may exceed the limit.
  std::atomic<std::size_t> taken_{0};
  std::atomic<std::uint64_t> last_id_{0};
  mutable std::mutex mutex_;
  std::deque<detail::trace_lane> lanes_;
  duration offset_{};
  std::optional<time_point> full_since_;
};

}  // namespace troupe
