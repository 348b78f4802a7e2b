#pragma once
// How a service is run, and how one caller calls it.

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
  keep_serving,  ///< The caller gets the exception, the replica goes on.
  restart,       ///< And the replica is restarted: where half-changed state would be worse.
};

inline constexpr duration no_limit = duration::max();

/// Below every version that a role can have: see call_options::min_version.
inline constexpr std::int64_t any_version = std::numeric_limits<std::int64_t>::min();

/// A number of replicas that follows the load: `.autoscale = {.min = 1, .max = 8}`. It is measured
/// by the mean time from a call's being sent to its start, among the calls that replicas begin in
/// one metrics_interval. The terms are Ray Serve's (autoscaling_config); its defaults are for HTTP
/// requests, and a hundred times as long.
struct autoscale_options {
  std::size_t min = 1;  ///< Replicas, > 0.
  std::size_t max = 0;  ///< At least `min`; 0: the number doesn't change by itself.
  duration target_queue_wait = std::chrono::milliseconds(10);  ///< > 0
  duration metrics_interval = std::chrono::milliseconds(250);  ///< Between two looks, > 0.
  /// How long the wait is above the target before the service grows, at most to twice its size.
  duration upscale_delay = std::chrono::milliseconds(500);
  /// How long it is below half the target before one replica is removed.
  duration downscale_delay = std::chrono::seconds(10);
};

/// Options of `system::serve`. Every one has a default but the name.
struct serve_options {
  std::string name;  ///< In logs, errors and metrics. Unique in the system.
  std::size_t replicas =
      1;  ///< At the start. Each has a role of its own, made from the same arguments.
  autoscale_options autoscale;
  troupe::placement placement = placement::shared;
  /// Of placement::process: what a replica's process may allocate, in bytes; above it its
  /// allocations fail. 0: no limit.
  std::size_t memory_limit = 0;

  // Bounds.
  std::size_t max_queued = 1024;    ///< Calls a replica holds, those it works on included.
  std::size_t max_waiting = 65536;  ///< Callers that wait for room; above it they get `overloaded`.
  std::size_t max_ongoing = 64;     ///< Coroutine calls a replica works on at once.
  std::size_t max_batch = 256;      ///< Calls in one batch of a batched endpoint.
  duration max_delay =
      duration(0);  ///< How long a batch waits for more; 0: closes when the mailbox is empty.

  // Failure.
  duration deadline = no_limit;  ///< Of each call, unless the caller says otherwise.
  troupe::on_throw on_throw = on_throw::keep_serving;
  /// In `restart_window`; above it: `service_down`. Replicas that are lost with one link, as when a
  /// node dies, count once. Unset: 10, or twice the number of replicas where that is more.
  std::optional<std::size_t> max_restarts;
  duration restart_window = std::chrono::seconds(60);
  duration backoff =
      std::chrono::milliseconds(50);  ///< Before the second restart in the window; doubles.
  duration backoff_limit = std::chrono::seconds(5);
  /// How long a replica may take to serve: its role's constructor and `catch_up`, without the wait
  /// for a node that has room. One that takes longer hangs: it is abandoned and made again once;
  /// then the service is down, unless other replicas of it serve. A growth ends by an error.
  duration start_timeout = std::chrono::minutes(10);
  std::vector<const endpoint_info*> idempotent;  ///< Retried elsewhere after `replica_lost`.
  std::size_t max_retries = 3;                   ///< Of an idempotent call.
  /// Idempotent endpoints, of which a call without an answer after `hedge_after` is sent to a
  /// second replica, too, if one has room. The first answer counts, the other call is cancelled.
  std::vector<const endpoint_info*> hedged;
  duration hedge_after = duration(0);  ///< From the sending on; to 5 ms. Needed if any is `hedged`.
  /// Coroutine endpoints that go on when their caller has given up. Others are cancelled where they
  /// wait.
  std::vector<const endpoint_info*> run_to_end;
  /// How long an endpoint may work on a call. A coroutine that waits for longer is cancelled, its
  /// call ends as `deadline_exceeded`. A replica that is busy for longer without a pause is hung:
  /// it is abandoned, up to a quarter of the time later, and replaced as if it had died. One in
  /// another process that is silent is not judged by it, but lost after that time, within 2 s and
  /// 10 s: with all others that are, for one restart where they are behind one link.
  duration max_call_time = no_limit;
  /// How long a replica that `scale` removes may finish what it holds, its sessions included.
  duration drain_timeout = std::chrono::seconds(30);
  std::size_t poison_limit = 2;  ///< Replicas one call may kill before it is refused as `poison`.
  /// Of placement::node: how long a replica outlives the way to its controller. A controller that
  /// is back by then, also as another process, finds it as it was, if it serves the same role with
  /// the same arguments; its sessions have ended. 0: it ends at once.
  duration outlive_controller = duration(0);
  bool faults = true;  ///< False: a fault plan spares it, for what stands for the world outside.

  std::shared_ptr<troupe::router> router;  ///< Null: power of two choices.
};

/// Options of one caller: `handle.with({.deadline = 50ms})`.
struct call_options {
  duration deadline = duration(0);  ///< From the call on; 0: the service's.
  bool wait = true;                 ///< False: `overloaded` at once where every queue is full.
  troupe::priority priority = priority::normal;
  std::uint64_t key = 0;  ///< What a consistent-hash router routes by.
  /// A routed call goes to a replica whose role has this version or a newer one, and waits for one
  /// while there is none. A role says its version by a member `std::int64_t version() const`, which
  /// never falls; one that doesn't has none. Sessions and fanouts go where they go.
  std::int64_t min_version = any_version;
  /// Of a fanout: how many replicas are asked at the same time; 0: all.
  std::size_t at_once = 0;
};

/// Options of one session: `handle.session({.exclusive = true})`.
struct session_options {
  bool exclusive = false;  ///< Its replica has no other session while this one lasts.
};

}  // namespace troupe
