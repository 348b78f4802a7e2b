#pragma once
// The metrics of openenv::client.

#include <array>
#include <string>

#include "actors/openenv/protocol/error.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe::openenv {

/// The counters of a client.
class client_metrics {
 public:
  /// Registers the metrics. With a null `registry` nothing is counted.
  explicit client_metrics(metrics_registry* registry) {
    if (!registry) return;
    for (std::size_t i = 0; i < failures; ++i) {
      failed_[i] = registry->counter(
          "troupe_openenv_failures_total",
          "Requests to OpenEnv servers that failed, by reason; see docs/guides/openenv.md.",
          {{"reason", std::string(to_string(static_cast<failure>(i)))}});
    }
    replies_ = registry->counter("troupe_openenv_replies_total", "Replies of OpenEnv servers.");
    dropped_ = registry->counter("troupe_openenv_dropped_episodes_total",
                                 "Episodes on OpenEnv servers that a failure ended.");
    waits_ = registry->counter("troupe_openenv_capacity_waits_total",
                               "Times that every OpenEnv server was full.");
    connections_ =
        registry->gauge("troupe_openenv_connections", "Open connections to OpenEnv servers.");
  }

  void failed(failure reason) const { failed_[static_cast<std::size_t>(reason)].increment(); }
  void replied() const { replies_.increment(); }
  void episode_dropped() const { dropped_.increment(); }
  void waits_for_capacity() const { waits_.increment(); }
  void connected() const { connections_.increment(); }
  void disconnected() const { connections_.increment(-1); }

 private:
  std::array<metric_counter, failures> failed_;
  metric_counter replies_;
  metric_counter dropped_;
  metric_counter waits_;
  metric_gauge connections_;
};

}  // namespace troupe::openenv
