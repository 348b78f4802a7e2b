#pragma once
// Internal to this folder: the metrics of the server.

#include <array>
#include <optional>

#include "actors/openenv/protocol/protocol.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe::openenv_server {

/// The metrics of an OpenEnv server.
struct server_metrics {
  /// The reason why the server ended a session.
  enum class drop { idle, no_pong, slow_reader, bad_frame, drained, slow_message, memory };
  /// The reason why a connection got no session.
  enum class refusal { capacity, draining, environment };

  explicit server_metrics(metrics_registry& metrics);

  metric_gauge sessions;
  metric_counter sessions_opened;
  std::array<metric_counter, 3> sessions_refused;  ///< indexed by refusal
  std::array<metric_counter, 7> sessions_dropped;  ///< indexed by drop
  std::array<metric_counter, 5> requests;          ///< indexed by request_kind
  std::array<metric_counter, 8> errors;            ///< indexed by server_error
  metric_counter connections_refused;              ///< for which there was no room
  metric_counter silent_dropped;                   ///< connections that were dropped to make room
  metric_gauge memory, memory_most;                ///< bytes of messages, now and at most so far
  metric_counter memory_refusals;                  ///< for which there was no memory
  metric_counter http_requests;
  metric_counter http_errors;
  metric_gauge slow;     ///< 1 while workers step the environments
  metric_gauge hanging;  ///< calls of environments that hang

  void count(std::optional<openenv::request_kind> request,
             std::optional<openenv::server_error> error) const {
    if (request) requests[static_cast<std::size_t>(*request)].increment();
    if (error) errors[static_cast<std::size_t>(*error)].increment();
  }
  void refused(refusal why) const { sessions_refused[static_cast<std::size_t>(why)].increment(); }
  void dropped(drop why) const { sessions_dropped[static_cast<std::size_t>(why)].increment(); }
};

}  // namespace troupe::openenv_server
