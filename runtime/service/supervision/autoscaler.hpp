#pragma once
// The autoscaler decides how many replicas a service should have, from the time that its calls wait
// for their start. It only decides; the supervisor measures, asks it and scales. Internal to
// runtime/.

#include <cstdint>
#include <optional>

#include "runtime/service/options/options.hpp"

namespace troupe::detail {

class service_state;

/// The state of a service's queues at one moment. Counts begin at the service's start.
struct queue_look {
  time_point at{};
  std::uint64_t begun = 0;      ///< Calls that replicas have begun.
  double waited = 0;            ///< The sum of the waits of these calls, in seconds.
  std::int64_t unfinished = 0;  ///< Calls under way and callers that wait for room.
  std::uint64_t restarts = 0;
  std::size_t replicas = 0;
  bool at_rest = true;  ///< True if all replicas serve and no other change is under way.
};
/// Measures all fields but `at`, `replicas` and `at_rest`.
queue_look look_at(const service_state& service);

/// Grows at once as far as the wait requires, at most to twice the number, and shrinks by one
/// replica at a time. It keeps the number while the wait is between half the target and the target,
/// and while replicas die, because a wait after a crash is no sign of load.
class autoscaler {
 public:
  explicit autoscaler(const autoscale_options& options) : options_(options) {}

  /// Returns the number of replicas to change to, or none. Call it every `metrics_interval`.
  std::optional<std::size_t> decide(const queue_look& now);
  /// Reports that the growth failed. The autoscaler then asks for none for a downscale_delay.
  void growth_failed(time_point now) { no_growth_before_ = now + options_.downscale_delay; }

 private:
  std::optional<std::size_t> grow(const queue_look& now, double wait);
  std::optional<std::size_t> shrink(const queue_look& now);

  const autoscale_options options_;
  std::optional<queue_look> before_;
  /// The time since which every look has seen waits above the target.
  std::optional<time_point> busy_since_;
  /// The time since which every look has seen waits below half the target.
  std::optional<time_point> calm_since_;
  time_point no_growth_before_ = time_point::min();
};

}  // namespace troupe::detail
