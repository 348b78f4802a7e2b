#pragma once
// The options of a service that another process needs to run a replica of it or to call it.
// Internal to runtime/.

#include "runtime/service/options/options.hpp"
#include "runtime/service/options/replica_info.hpp"
#include "runtime/service/state/service_state.hpp"
#include "runtime/wire/codec.hpp"

namespace troupe::detail {

/// The beginning of a `make` message.
struct role_origin {
  std::string build;  ///< The build_stamp() of the sender.
  std::string role;   ///< The name of the role, for messages.
};

struct remote_options {
  remote_options() = default;
  explicit remote_options(const service_state& service, const replica_info& info = {});
  /// Throws wire_error for an endpoint that this build doesn't know.
  serve_options options() const;

  std::string name;
  std::size_t index = 0, generation = 0;
  std::size_t max_queued = 0, max_waiting = 0, max_ongoing = 0, max_batch = 0, max_retries = 0,
              poison_limit = 0;
  // These are in nanoseconds.
  std::int64_t max_delay = 0, deadline = 0, max_call_time = 0, hedge_after = 0,
               outlive_controller = 0;
  bool restarts_on_throw = false;
  std::vector<std::uint64_t> idempotent, hedged, run_to_end;  // These are keys of endpoints.

  auto wire_members() {
    return std::tie(name, index, generation, max_queued, max_waiting, max_ongoing, max_batch,
                    max_retries, poison_limit, max_delay, deadline, max_call_time, hedge_after,
                    outlive_controller, restarts_on_throw, idempotent, hedged, run_to_end);
  }
};

/// Returns the service named by the handle that is being read. Throws wire_error.
std::shared_ptr<service_state> arriving_service(const remote_options& options);

}  // namespace troupe::detail
