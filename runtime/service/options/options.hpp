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

/// The reaction of a service to an exception that an endpoint throws. In both cases the caller gets
/// a role_error that holds the exception.
enum class on_throw {
  keep_serving,  ///< The replica goes on.
  /// The replica is restarted, and its other calls end as `replica_lost`. The restart counts in
  /// max_restarts. Use it for roles whose state may be half changed after an exception.
  restart,
};

/// The value that means "no limit" for an option of type duration, such as a deadline.
inline constexpr duration no_limit = duration::max();

/// A version below every version that a role can have; the default of call_options::min_version.
inline constexpr std::int64_t any_version = std::numeric_limits<std::int64_t>::min();

/// Lets the number of replicas follow the load: `.autoscale = {.min = 1, .max = 8}`. The load is
/// the mean time between the sending and the start of a call, over the calls that replicas start in
/// one metrics_interval; it is 0 if there was no call at all. The names metrics_interval,
/// upscale_delay and downscale_delay are those of Ray Serve's autoscaling_config; the defaults here
/// are much shorter. serve_options::replicas must lie between `min` and `max`. Options out of range
/// make `serve` throw std::invalid_argument.
struct autoscale_options {
  std::size_t min = 1;  ///< The smallest number of replicas, > 0.
  std::size_t max = 0;  ///< The largest number, at least `min`. 0 means that the number is fixed.
  /// The mean wait that the service is scaled for, > 0.
  duration target_queue_wait = std::chrono::milliseconds(10);
  /// The time between two measurements, > 0.
  duration metrics_interval = std::chrono::milliseconds(250);
  /// The service grows if the wait has been above the target for this time, >= 0. One growth at
  /// most doubles the number of replicas.
  duration upscale_delay = std::chrono::milliseconds(500);
  /// One replica is removed if the wait has been below half the target for this time, >= 0. Then
  /// the time starts again.
  duration downscale_delay = std::chrono::seconds(10);
};

/// The options of `system::serve`. All but the name have a default. Unless stated otherwise, a
/// number must be > 0 and a duration >= 0. `serve` throws std::invalid_argument for options out of
/// range.
struct serve_options {
  std::string name;  ///< The name in logs, errors and metrics. It is unique in the system.
  /// The number of replicas at the start. Each has its own Role object, made from the same
  /// arguments.
  std::size_t replicas = 1;
  /// The number of replicas that serve before `serve` returns, <= `replicas`; 0 means all of them.
  /// The others serve as soon as they can, for example when a node joins that has room.
  std::size_t min_ready = 0;
  /// Changes the number of replicas with the load; off by default.
  autoscale_options autoscale = {};
  /// The place where the replicas run: shared threads, own threads, child processes or nodes; see
  /// placement.hpp.
  troupe::placement placement = placement::shared;
  /// The path of the program that each replica's process executes; empty means the running program.
  /// Its main calls troupe::host_roles (runtime/system/host_roles.hpp) for the role. It must have
  /// been linked with the same build of Troupe as the running program; otherwise the service does
  /// not start. It is ignored unless the placement is placement::process, and in a deterministic
  /// system.
  std::string program = {};
  /// The largest memory in bytes that a replica's process may allocate. Allocations above it fail.
  /// 0 means no limit. It is ignored unless the placement is placement::process.
  std::size_t memory_limit = 0;

  // Bounds.
  /// The largest number of calls that one replica holds, running ones included.
  std::size_t max_queued = 1024;
  /// The largest number of calls in one process that wait for room; further ones end as
  /// `overloaded`. 0 means that no call waits.
  std::size_t max_waiting = 65536;
  /// The largest number of coroutine calls that one replica runs at the same time.
  std::size_t max_ongoing = 64;
  std::size_t max_batch = 256;  ///< The largest number of calls in one batch of a batched endpoint.
  /// The longest time that a batch waits for more calls. 0 means that the batch closes as soon as
  /// the mailbox is empty.
  duration max_delay = duration(0);

  // Failure.
  /// The deadline of each call whose caller sets none, > 0; see call_options::deadline.
  duration deadline = no_limit;
  /// The reaction to an exception that an endpoint throws.
  troupe::on_throw on_throw = on_throw::keep_serving;
  /// The largest number of restarts in `restart_window`; with one more the service goes down and
  /// its calls end as `service_down`. Replicas that are lost together, because the connection to
  /// their process or node broke, count as one restart. 0 means that the first loss of a replica
  /// ends the service. Unset means 10, or twice the present number of replicas if that is more;
  /// then a service whose constructors throw the same error three times in a row before any replica
  /// has served is not tried further.
  std::optional<std::size_t> max_restarts = {};
  /// The time over which restarts are counted, > 0.
  duration restart_window = std::chrono::seconds(60);
  /// The pause before the second restart in the window. It doubles with each further one. Each
  /// pause is varied at random by up to 25 %. The first restart has no pause.
  duration backoff = std::chrono::milliseconds(50);
  /// The longest pause before a restart.
  duration backoff_limit = std::chrono::seconds(5);
  /// The longest time, > 0, that a replica may take to begin to serve: its role's constructor and
  /// `catch_up`, without the wait for a node that has room. A replica that takes longer counts as
  /// hung: it is abandoned and made again. If it hangs again, the service goes down, unless the
  /// service has started and other replicas of it serve; then the replica is made once more, as
  /// after any other loss. If a replica that `system::scale` adds hangs, or finds no node with room
  /// in this time, `scale` throws call_error of kind replica_lost and the service goes on without
  /// the added replicas.
  duration start_timeout = std::chrono::minutes(10);
  /// Endpoints whose calls may run more than once. If the replica of such a call is lost, the call
  /// is sent again to a replica that serves. Calls of sessions and fanouts are not sent again.
  std::vector<const endpoint_info*> idempotent = {};
  /// The largest number of times that an idempotent call is sent again; 0 means never.
  std::size_t max_retries = 3;
  /// Endpoints whose calls are sent to a second replica as well, if one has room, when they have no
  /// answer after `hedge_after`. The first answer counts and the other call is cancelled. The
  /// endpoints must also be in `idempotent`.
  std::vector<const endpoint_info*> hedged = {};
  /// The time from the sending to the second attempt, with a resolution of 5 ms. It must be > 0 if
  /// `hedged` lists an endpoint.
  duration hedge_after = duration(0);
  /// Coroutine endpoints that go on when their caller was cancelled or its deadline has passed.
  /// Other coroutine endpoints are then cancelled at the point where they wait.
  std::vector<const endpoint_info*> run_to_end = {};
  /// The longest time, > 0, that an endpoint may work on one call. A coroutine that waits longer is
  /// cancelled and its call ends as `deadline_exceeded`. A replica that is busy longer without a
  /// pause is hung, unless its endpoint calls note_progress. Between max_call_time and 1.25 times
  /// max_call_time, and at most 1 s after it, the replica is abandoned and replaced as if it had
  /// died, so its calls end as `replica_lost`.
  ///
  /// A process or node that sends no sign of life is lost after max_call_time, but after 2 s at
  /// least and 10 s at most (10 s without a limit). All its replicas are lost then, which counts as
  /// one restart.
  duration max_call_time = no_limit;
  /// The longest time that a replica removed by `system::scale` or by autoscaling may take to
  /// finish its calls and sessions.
  duration drain_timeout = std::chrono::seconds(30);
  /// An idempotent call that has killed so many replicas ends as `poison` and isn't sent again.
  std::size_t poison_limit = 2;
  /// The longest time that a replica on a node (placement::node) stays alive without a connection
  /// to its controller, the process that serves the service. If the controller, or a new process in
  /// its place, reconnects in this time and serves the same role with the same arguments, it gets
  /// the replica unchanged; the replica's sessions have ended. 0 means that the replica ends at
  /// once.
  duration outlive_controller = duration(0);
  /// If false, fault plans inject no fault into this service. Set it to false for roles that stand
  /// for the outside world.
  bool faults = true;

  /// The strategy that chooses a call's replica; null means routing::power_of_two().
  std::shared_ptr<troupe::router> router = {};
};

/// The options of one caller: `handle.with({.deadline = 50ms})`.
struct call_options {
  /// The longest time from the co_await of a call to its answer; then the call ends as
  /// `deadline_exceeded`. 0 means the service's deadline. It holds for each call of a fanout or
  /// session separately.
  duration deadline = duration(0);
  /// If false, a call that finds every queue full, or no replica that may answer, ends at once as
  /// `overloaded`. If true, it waits for room until its deadline.
  bool wait = true;
  /// A call with priority::control overtakes normal calls in queues, and a full queue still takes
  /// 64 such calls.
  troupe::priority priority = priority::normal;
  /// The key of routing::consistent_hash(): equal keys get the same replica. Other routers of
  /// `routing` ignore it.
  std::uint64_t key = 0;
  /// The lowest version of a role that may answer. A routed call goes to a replica whose role has
  /// this version or a newer one, and waits while there is none. A role gives its version with a
  /// member `std::int64_t version() const`, which must never fall. If the role has no such member,
  /// a call with a min_version other than any_version waits until its deadline. Sessions and
  /// fanouts ignore min_version.
  std::int64_t min_version = any_version;
  /// The number of replicas that a fanout asks at the same time; 0 means all. The fanout asks in
  /// groups of this size, and waits for all answers of a group before it asks the next one.
  std::size_t at_once = 0;
};

/// The options of one session: `handle.session({.exclusive = true})`.
struct session_options {
  bool exclusive = false;  ///< True keeps all other sessions away from the session's replica.
};

}  // namespace troupe
