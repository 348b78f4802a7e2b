#pragma once
// How many replicas a service should have, from how long its calls wait for their start. Decides
// only; the supervisor looks, asks and scales. Internal to runtime/.

#include <cstdint>
#include <optional>

#include "runtime/service/options/options.hpp"

namespace troupe::detail {

class service_state;

/// What a service's queues look like at one moment. Counts are since its start.
struct queue_look {
  time_point at{};
  std::uint64_t begun = 0;      ///< Calls that replicas have begun.
  double waited = 0;            ///< Seconds that these waited for it, together.
  std::int64_t unfinished = 0;  ///< Calls under way, and callers that wait for room.
  std::uint64_t restarts = 0;
  std::size_t replicas = 0;
  bool at_rest = true;  ///< All serve, and no other change is under way.
};
/// All of it but `at`, `replicas` and `at_rest`.
queue_look look_at(const service_state& service);

/// Grows at once as far as the wait asks, at most to twice the number, and shrinks by one replica
/// after another. Between waits of half the target and the target it does neither, nor while
/// replicas die: a wait that a crash has caused is no sign of load.
class autoscaler {
 public:
  explicit autoscaler(const autoscale_options& options) : options_(options) {}

  /// The number of replicas to change to, if it should change. To be asked every
  /// `metrics_interval`.
  std::optional<std::size_t> decide(const queue_look& now);
  /// The growth it asked for failed: it asks for none for a downscale_delay.
  void growth_failed(time_point now) { no_growth_before_ = now + options_.downscale_delay; }

 private:
  std::optional<std::size_t> grow(const queue_look& now, double wait);
  std::optional<std::size_t> shrink(const queue_look& now);

  const autoscale_options options_;
  std::optional<queue_look> before_;
  std::optional<time_point>
      busy_since_;  ///< Every look since then has seen waits above the target.
  std::optional<time_point> calm_since_;  ///< ... below half of it.
  time_point no_growth_before_ = time_point::min();
};

}  // namespace troupe::detail
