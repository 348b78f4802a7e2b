#pragma once
// The options of a service (serve_options), of a caller (call_options) and of a session
// (session_options).

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/actor/inbox.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/service/options/endpoint.hpp"
#include "runtime/service/options/placement.hpp"
#include "runtime/service/options/router.hpp"

namespace troupe {

enum class on_throw {
  keep_serving,  ///< The caller gets the exception and the replica goes on.
  /// The caller gets the exception and the replica is restarted. For roles whose state may be half
  /// changed after an exception.
  restart,
};

/// The value that means "no limit" for an option that is a time.
inline constexpr duration no_limit = duration::max();

/// A version below every version that a role can have; the default of call_options::min_version.
inline constexpr std::int64_t any_version = std::numeric_limits<std::int64_t>::min();

/// Lets the number of replicas follow the load: `.autoscale = {.min = 1, .max = 8}`. The load is
/// the mean time between the sending and the start of a call, over the calls that replicas start in
/// one metrics_interval. The terms are those of Ray Serve's autoscaling_config, whose defaults are
/// for HTTP requests and a hundred times as long.
struct autoscale_options {
  std::size_t min = 1;  ///< The smallest number of replicas, > 0.
  std::size_t max = 0;  ///< The largest number, at least `min`. 0 means that the number is fixed.
  duration target_queue_wait = std::chrono::milliseconds(10);  ///< The wait to keep to, > 0.
  /// The time between two measurements, > 0.
  duration metrics_interval = std::chrono::milliseconds(250);
  /// The time that the wait is above the target before the service grows, at most to twice its
  /// size.
  duration upscale_delay = std::chrono::milliseconds(500);
  /// The time that the wait is below half the target before one replica is removed.
  duration downscale_delay = std::chrono::seconds(10);
};

/// The options of `system::serve`. All but the name have a default.
struct serve_options {
  std::string name;  ///< The name in logs, errors and metrics. It is unique in the system.
  /// The number of replicas at the start. Each has a role of its own, made from the same arguments.
  std::size_t replicas = 1;
  /// Changes the number of replicas with the load; off by default.
  autoscale_options autoscale;
  /// The place where the replicas run; see placement.hpp.
  troupe::placement placement = placement::shared;
  /// The memory in bytes that a replica's process may allocate (placement::process only).
  /// Allocations above it fail. 0 means no limit.
  std::size_t memory_limit = 0;

  // Bounds.
  std::size_t max_queued = 1024;  ///< The calls that one replica holds, running ones included.
  /// The callers that wait for room; further ones get `overloaded`.
  std::size_t max_waiting = 65536;
  std::size_t max_ongoing = 64;  ///< The coroutine calls that one replica runs at the same time.
  std::size_t max_batch = 256;  ///< The largest number of calls in one batch of a batched endpoint.
  /// The time that a batch waits for more calls. 0 means that the batch closes as soon as the
  /// mailbox is empty.
  duration max_delay = duration(0);

  // Failure.
  duration deadline = no_limit;  ///< The deadline of each call, unless its caller sets another.
  /// The reaction to an exception that an endpoint throws.
  troupe::on_throw on_throw = on_throw::keep_serving;
  /// The largest number of restarts in `restart_window`; one more ends the service as
  /// `service_down`. Replicas that are lost with one link, as when a node dies, count once. Unset
  /// means 10, or twice the number of replicas if that is more; then a service whose constructors
  /// throw the same error three times in a row before any replica has served is not tried further.
  std::optional<std::size_t> max_restarts;
  /// The time over which restarts are counted.
  duration restart_window = std::chrono::seconds(60);
  /// The pause before the second restart in the window. It doubles with each further one.
  duration backoff = std::chrono::milliseconds(50);
  /// The longest pause before a restart.
  duration backoff_limit = std::chrono::seconds(5);
  /// The time that a replica may take to begin to serve: its role's constructor and `catch_up`,
  /// without the wait for a node that has room. A replica that takes longer counts as hung: it is
  /// abandoned and made again once. If it hangs again, the service goes down, unless the service
  /// has started and other replicas of it serve. A growth (`system::scale`) ends by an error
  /// instead.
  duration start_timeout = std::chrono::minutes(10);
  /// Endpoints that may run twice; their calls are retried at another replica after `replica_lost`.
  std::vector<const endpoint_info*> idempotent;
  std::size_t max_retries = 3;  ///< The largest number of retries of an idempotent call.
  /// Idempotent endpoints whose calls are sent to a second replica as well, if one has room, when
  /// they have no answer after `hedge_after`. The first answer counts and the other call is
  /// cancelled.
  std::vector<const endpoint_info*> hedged;
  /// The time from the sending to the second attempt, with a resolution of 5 ms. Required, > 0, if
  /// `hedged` lists an endpoint.
  duration hedge_after = duration(0);
  /// Coroutine endpoints that go on when their caller has given up. All others are cancelled at the
  /// point where they wait.
  std::vector<const endpoint_info*> run_to_end;
  /// The time that an endpoint may work on one call. A coroutine that waits longer is cancelled and
  /// its call ends as `deadline_exceeded`. A replica that is busy longer without a pause is hung:
  /// it is abandoned, up to a quarter of this time later, and replaced as if it had died. This
  /// limit doesn't apply to a replica in another process that sends no sign of life. Such a replica
  /// is lost after max_call_time, but not before 2 s and not after 10 s; if several replicas behind
  /// one link are silent, all are lost and count as one restart.
  duration max_call_time = no_limit;
  /// The time that a replica removed by `scale` may take to finish its calls and sessions.
  duration drain_timeout = std::chrono::seconds(30);
  /// The number of replicas that one call may kill before it is refused as `poison`.
  std::size_t poison_limit = 2;
  /// The time that a replica on a node (placement::node) stays alive without a connection to its
  /// controller. A controller that reconnects in this time, also as another process, finds the
  /// replica unchanged if it serves the same role with the same arguments; the replica's sessions
  /// have ended. 0 means that the replica ends at once.
  duration outlive_controller = duration(0);
  /// False keeps fault plans away from this service; for roles that stand for the outside world.
  bool faults = true;

  /// The strategy that chooses a call's replica; null means power of two choices.
  std::shared_ptr<troupe::router> router;
};

/// The options of one caller: `handle.with({.deadline = 50ms})`.
struct call_options {
  /// The time from the call to its end; 0 means the service's deadline.
  duration deadline = duration(0);
  bool wait = true;  ///< False ends the call as `overloaded` at once if every queue is full.
  /// Control calls pass other calls in queues.
  troupe::priority priority = priority::normal;
  std::uint64_t key = 0;  ///< The key of a consistent-hash router: equal keys get the same replica.
  /// The oldest version of a role that may answer. A routed call goes to a replica whose role has
  /// this version or a newer one, and waits while there is none. A role gives its version with a
  /// member `std::int64_t version() const`, which must never fall; a role without this member never
  /// satisfies a min_version. Sessions and fanouts ignore min_version.
  std::int64_t min_version = any_version;
  /// The number of replicas that a fanout asks at the same time; 0 means all.
  std::size_t at_once = 0;
};

/// The options of one session: `handle.session({.exclusive = true})`.
struct session_options {
  bool exclusive = false;  ///< True keeps all other sessions away from the session's replica.
};

}  // namespace troupe
