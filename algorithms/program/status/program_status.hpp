#pragma once
// What a running program's metrics say of it, from one scrape or from two.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/program/status/exposition.hpp"

namespace troupe::command {

/// One look at a program.
struct scrape {
  double at_s = 0;  ///< On a clock that only goes forward.
  std::vector<metric_sample> samples;
};

struct service_status {
  std::string service;
  std::string state;  ///< "ready", "degraded" (fewer than desired) or "down"
  double ready = 0, desired = 0, draining = 0;
  double in_flight = 0;                ///< Calls sent and not answered.
  double waiting = 0;                  ///< Callers that wait for room in a queue.
  std::optional<double> calls_per_s;   ///< Answered, between the scrapes.
  std::optional<double> p50_s, p99_s;  ///< From a call's being sent to its answer.
  std::optional<double> queue_wait_p99_s;
  double failed = 0;  ///< Calls without an answer or with an error, since the start.
  double restarts = 0;
};

/// Another process, which runs replicas for the program.
struct process_status {
  std::string node;     ///< Where it is, or which it is; empty: on the program's machine.
  std::string process;  ///< A child, by its service and replica: "environments-0"; empty: the node.
  double replicas = 0;  ///< That run in it.
  std::optional<double> calls_per_s;  ///< Answered by them, between the scrapes.
  std::optional<double> env_steps_per_s;
  std::optional<double> cores;  ///< Of CPU time, between the scrapes.
  std::optional<double> memory_bytes;
};

/// Over all processes.
struct learning_status {
  std::optional<double> env_steps, env_steps_per_s;
  std::optional<double> episodes, episode_return, episode_length;  ///< Means between the scrapes.
  std::optional<double> policy_version, staleness;
  std::optional<double> train_steps, train_steps_per_s, loss;
  std::optional<double> replay_items;
};

struct program_status {
  std::string version;
  std::vector<service_status> services;   ///< By name.
  std::vector<process_status> processes;  ///< By node, then by name.
  learning_status learning;
};

/// Rates, and quantiles and means of the time between, need `before`; without it, or where nothing
/// was counted in between, quantiles and means are since the program's start. Throws
/// std::invalid_argument where the metrics are not a Troupe program's.
program_status status_of(const scrape& now, const scrape* before);

/// The value that a share q of a histogram's counts does not exceed, interpolated within its bucket
/// as PromQL's histogram_quantile does; none if it is empty. `buckets`: upper bound and cumulative
/// count, ascending, the last one infinite.
std::optional<double> quantile(double q, const std::vector<std::pair<double, double>>& buckets);

/// As `troupe status --json` prints it: the fields of the structs by their names, null where there
/// is none.
nlohmann::ordered_json to_json(const program_status& status);

/// As a terminal shows it.
std::string to_text(const program_status& status);

}  // namespace troupe::command
