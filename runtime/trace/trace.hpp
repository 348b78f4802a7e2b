#pragma once
// What the actors of a program did and when, to be looked at in a trace viewer: who executed which
// call, who waited for whom, and what a program marks itself (trace_span.hpp).
//
//   actor ── trace_lane ──┐
//   actor ── trace_lane ──┼── trace ── write_trace ──> Chrome's trace-event JSON
//   actor ── trace_lane ──┘
//
// An actor writes to its own lane, which no other does, so a slice costs no lock. A system without
// a trace has no lanes: a routed call then costs one comparison with null more.

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

/// Something that took from `begin` to `end` on one lane.
struct trace_slice {
  enum class kind : std::uint8_t {
    wait,       ///< A coroutine awaited a call of `group`'s endpoint `name`.
    execution,  ///< The endpoint `name` worked on one call.
    batch,      ///< The endpoint `name` worked on `count` calls.
    joined,     ///< A call of the batch before it on this lane: only its id counts.
    span,       ///< `name`, marked by the program, on rows called `group`.
    mark,       ///< `name` happened at `begin`.
  };
  enum class outcome : std::uint8_t { ok, error, cancelled };

  kind what = kind::span;
  outcome how = outcome::ok;
  std::uint32_t count = 0;
  std::uint64_t id = 0;      ///< A call's: of its wait, and of its execution in the replica.
  std::uint64_t parent = 0;  ///< The execution or span that it is a part of; 0: none.
  time_point begin{};
  time_point end{};
  std::string_view group;  ///< Kept by the lane, as is `name` where it is not an endpoint's.
  std::string_view name;
};

/// What one actor did, in the order of its telling. The actor's alone until its system has ended.
class trace_lane {
 public:
  trace_lane(trace& whole, std::string group, std::optional<std::size_t> index, duration offset)
      : group(std::move(group)), index(index), whole_(whole), offset_(offset) {}
  trace_lane(const trace_lane&) = delete;

  /// Of a slice; unique in the trace, and larger than all before.
  std::uint64_t new_id();
  /// Keeps a slice, unless the trace is full.
  void add(trace_slice slice);
  /// A copy of `text` that lives as long as the lane.
  std::string_view keep(std::string_view text);

  const std::string group;                 ///< "trainer", "main"
  const std::optional<std::size_t> index;  ///< A replica's.
  const std::deque<trace_slice>& slices() const noexcept { return slices_; }

 private:
  trace& whole_;
  const duration offset_;  ///< Where its clock's zero lies in the trace.
  std::deque<trace_slice> slices_;
  std::set<std::string, std::less<>> texts_;
};

}  // namespace detail

/// Collects what systems do that name it in system_options::trace, several of them after one
/// another.
class trace {
 public:
  static constexpr std::size_t default_limit = 1'000'000;

  /// Keeps `limit` slices, of 88 bytes each; then it says so once in the log, and keeps no more.
  explicit trace(std::size_t limit = default_limit) : limit_(limit) {}
  trace(const trace&) = delete;

  std::size_t limit() const noexcept { return limit_; }
  /// Slices kept. At most `limit`.
  std::size_t size() const noexcept;
  /// When the first slice came that was not kept.
  std::optional<time_point> full_since() const;

  // For the runtime.
  /// A system begins. In virtual time, which starts at zero in each, it follows the one before.
  void begin_system(bool virtual_time);
  /// Any thread. Lives as long as the trace.
  detail::trace_lane& add_lane(std::string group, std::optional<std::size_t> index = std::nullopt);
  /// Every lane, in order of coming. Once their systems have ended.
  const std::deque<detail::trace_lane>& lanes() const noexcept { return lanes_; }

 private:
  friend class detail::trace_lane;
  /// Room for one slice; false where there is none.
  bool take_room(time_point now);

  const std::size_t limit_;
  std::atomic<std::size_t> taken_{0};  ///< May pass the limit: slices that came too late.
  std::atomic<std::uint64_t> last_id_{0};
  mutable std::mutex mutex_;
  std::deque<detail::trace_lane> lanes_;
  duration offset_{};
  std::optional<time_point> full_since_;
};

}  // namespace troupe
