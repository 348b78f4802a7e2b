#pragma once
// The status of a running program, computed from one or two scrapes of its metrics. `troupe status`
// prints it.

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/program/status/exposition.hpp"

namespace troupe::command {

/// A program's metrics at one moment.
struct scrape {
  double at_s = 0;  ///< The time of the scrape in seconds, on a monotonic clock.
  std::vector<metric_sample> samples;
};

/// The status of one service.
struct service_status {
  std::string service;
  std::string state;  ///< "ready", "degraded" (fewer than desired) or "down"
  double ready = 0, desired = 0, draining = 0;
  double in_long_turn = 0;             ///< Replicas that have been in one turn for 10 s.
  double in_flight = 0;                ///< Calls that were sent and are not answered yet.
  double waiting = 0;                  ///< Callers that wait for room in a queue.
  std::optional<double> calls_per_s;   ///< Answered calls between the scrapes.
  std::optional<double> p50_s, p99_s;  ///< The time from sending a call to its answer.
  std::optional<double> queue_wait_p99_s;
  double failed = 0;  ///< Calls without an answer or with an error, since the start.
  double restarts = 0;
};

/// Another process, which runs replicas for the program.
struct process_status {
  std::string node;  ///< The name of the node. Empty means the program's machine.
  /// The service and replica of a child process, such as "environments-0". Empty means the node.
  std::string process;
  double replicas = 0;                ///< The number of replicas in the process.
  std::optional<double> calls_per_s;  ///< Calls that its replicas answered between the scrapes.
  std::optional<double> env_steps_per_s;
  std::optional<double> cores;  ///< CPU seconds per second between the scrapes.
  std::optional<double> memory_bytes;
};

/// Learning progress over all processes.
struct learning_status {
  std::optional<double> env_steps, env_steps_per_s;
  std::optional<double> episodes, episode_return, episode_length;  ///< Means between the scrapes.
  std::optional<double> policy_version, staleness;
  std::optional<double> train_steps, train_steps_per_s, loss;
  std::optional<double> replay_items;
};

/// The status of a program.
struct program_status {
  std::string version;
  std::vector<service_status> services;   ///< The first 1000, sorted by name.
  std::vector<process_status> processes;  ///< The first 1000, sorted by node, then by name.
  std::size_t left_out = 0;               ///< The number of further services and processes.
  learning_status learning;
};

/// Computes the status. Rates, quantiles and means are over the time between `before` and `now`. If
/// `before` is null or nothing was counted in between, there are no rates, and quantiles and means
/// are over the time since the program's start. Throws std::invalid_argument if the metrics are not
/// those of a Troupe program.
program_status status_of(const scrape& now, const scrape* before);

/// The value that a share q of a histogram's counts does not exceed, interpolated within its bucket
/// as PromQL's histogram_quantile does; none if the histogram is empty. Each of `buckets` has an
/// upper bound and a cumulative count. They ascend, and the last bound is infinite.
std::optional<double> quantile(double q, const std::vector<std::pair<double, double>>& buckets);

/// The status as `troupe status --json` prints it: the fields of the structs by their names, with
/// null for values that there are none of.
nlohmann::ordered_json to_json(const program_status& status);

/// The status as tables for a terminal.
std::string to_text(const program_status& status);

}  // namespace troupe::command
