#pragma once

#include <array>
#include <optional>

#include "actors/openenv/protocol/protocol.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe::openenv_server {

/// What an OpenEnv server counts.
struct server_metrics {
  /// Why a session ended that its client did not end.
  enum class drop { idle, no_pong, slow_reader, bad_frame, drained };
  /// Why a connection became no session.
  enum class refusal { capacity, draining, environment };

  explicit server_metrics(metrics_registry& metrics);

  metric_gauge sessions;
  metric_counter sessions_opened;
  std::array<metric_counter, 3> sessions_refused;  ///< By refusal.
  std::array<metric_counter, 5> sessions_dropped;  ///< By drop.
  std::array<metric_counter, 5> requests;          ///< By request_kind.
  std::array<metric_counter, 8> errors;            ///< By server_error.
  metric_counter http_requests;
  metric_counter http_errors;
  metric_gauge slow;  ///< 1 while environments are stepped by workers.

  void count(std::optional<openenv::request_kind> request,
             std::optional<openenv::server_error> error) const {
    if (request) requests[static_cast<std::size_t>(*request)].increment();
    if (error) errors[static_cast<std::size_t>(*error)].increment();
  }
  void refused(refusal why) const { sessions_refused[static_cast<std::size_t>(why)].increment(); }
  void dropped(drop why) const { sessions_dropped[static_cast<std::size_t>(why)].increment(); }
};

}  // namespace troupe::openenv_server
