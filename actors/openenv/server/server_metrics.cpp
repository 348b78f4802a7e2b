#include "actors/openenv/server/server_metrics.hpp"

namespace troupe::openenv_server {

using namespace openenv;  // the messages of clients and servers

server_metrics::server_metrics(metrics_registry& metrics)
    : sessions(
          metrics.gauge("troupe_openenv_server_sessions", "Sessions of OpenEnv clients now open.")),
      sessions_opened(metrics.counter("troupe_openenv_server_sessions_opened_total",
                                      "Sessions that OpenEnv clients have opened.")),
      connections_refused(metrics.counter(
          "troupe_openenv_server_connections_refused_total",
          "Connections refused with status 503, as too many waited for a session or an answer.")),
      silent_dropped(metrics.counter(
          "troupe_openenv_server_silent_connections_dropped_total",
          "Connections that had sent no whole request and were dropped to make room for others.")),
      memory(metrics.gauge("troupe_openenv_server_memory_bytes",
                           "Bytes that messages of OpenEnv clients take.")),
      memory_most(metrics.gauge("troupe_openenv_server_memory_peak_bytes",
                                "The most bytes that messages of OpenEnv clients have taken.")),
      memory_refusals(metrics.counter(
          "troupe_openenv_server_memory_refusals_total",
          "Requests and sessions that were ended as messages took too much memory.")),
      http_requests(metrics.counter("troupe_openenv_server_http_requests_total",
                                    "HTTP requests to the OpenEnv server.")),
      http_errors(metrics.counter("troupe_openenv_server_http_errors_total",
                                  "HTTP requests answered with a status of 400 or more.")),
      slow(metrics.gauge("troupe_openenv_server_slow",
                         "1 while the served environments are stepped by threads of their own.")),
      hanging(metrics.gauge("troupe_openenv_server_hanging_calls",
                            "Calls of served environments that have taken longer than 90 s.")) {
  const auto add = [&](auto& to, const char* name, const char* help, const char* label,
                       std::initializer_list<const char*> values) {
    std::size_t i = 0;
    for (const auto* value : values) to.at(i++) = metrics.counter(name, help, {{label, value}});
  };
  add(sessions_refused, "troupe_openenv_server_sessions_refused_total",
      "Connections to the OpenEnv server that got no session.", "reason",
      {"capacity", "draining", "environment"});
  add(sessions_dropped, "troupe_openenv_server_sessions_dropped_total",
      "Sessions of OpenEnv clients that the server ended.", "reason",
      {"idle", "no_pong", "slow_reader", "bad_frame", "drained", "slow_message", "memory"});
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests.at(i) = metrics.counter(
        "troupe_openenv_server_requests_total", "Requests in sessions of OpenEnv clients.",
        {{"kind", std::string(to_string(static_cast<request_kind>(i)))}});
  }
  for (std::size_t i = 0; i < errors.size(); ++i) {
    errors.at(i) =
        metrics.counter("troupe_openenv_server_errors_total", "Errors told to OpenEnv clients.",
                        {{"code", std::string(to_string(static_cast<server_error>(i)))}});
  }
}

}  // namespace troupe::openenv_server
