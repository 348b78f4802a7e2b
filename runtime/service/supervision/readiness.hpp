#pragma once

#include <chrono>
#include <optional>

namespace troupe {

class metrics_registry;

/// What /readyz says: whether every service of this process that should have replicas has one that
/// is ready. By the metrics that services export. One thread asks.
class readiness {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  /// For so long after all were up it stays ready: a replica that is made again, or all services of
  /// a run that begins anew behind a checkpoint, are no reason to take the process out.
  static constexpr std::chrono::seconds patience{5};

  explicit readiness(const metrics_registry& metrics) : metrics_(metrics) {}
  /// A process without services is ready for them.
  bool at(time_point now);

 private:
  const metrics_registry& metrics_;
  std::optional<time_point> last_up_;  ///< None until all services were, for the first time.
};

}  // namespace troupe
