#pragma once

#include <chrono>
#include <optional>

namespace troupe {

class metrics_registry;

/// Decides what /readyz answers: true if every service of this process that should have replicas
/// has one that is ready. It reads the metrics that services export. Used by one thread.
class readiness {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  /// The time that the process stays ready after all services were up. A replica that is restarted,
  /// or a run whose services begin anew from a checkpoint, is no reason to take the process out.
  static constexpr std::chrono::seconds patience{5};

  explicit readiness(const metrics_registry& metrics) : metrics_(metrics) {}
  /// Returns true if the process is ready. A process without services is ready.
  bool at(time_point now);

 private:
  const metrics_registry& metrics_;
  std::optional<time_point> last_up_;  ///< None until all services were up for the first time.
};

/// Decides what /livez answers: false if what drives the program (the main coroutine, deadlines,
/// supervisors) has waited for a thread for `stall_limit`. Long turns of roles don't make it false,
/// because other threads take their place. It reads the metrics, and any thread may call it.
bool is_live(const metrics_registry& metrics);
inline constexpr std::chrono::seconds stall_limit{30};

}  // namespace troupe
