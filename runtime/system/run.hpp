#pragma once

#include <functional>
#include <memory>

#include "runtime/metrics/metrics_place.hpp"
#include "runtime/metrics/metrics_server.hpp"
#include "runtime/system/system.hpp"

namespace troupe {

/// A program's main: `int main(int argc, char** argv) { return troupe::run(argc, argv, demo); }`.
/// Understands `--threads`, `--metrics-port`, `--metrics-address`, `--log-level`,
/// `--deterministic`, `--seed`, `--faults`, `--trace`, `--certs`, `--join-secret` and `--help`, and
/// two modes: `controller --listen HOST:PORT` runs the program with nodes that join it, `node
/// --join HOST:PORT --name NAME` runs what a controller places here. SIGINT and SIGTERM cancel the
/// coroutine; a second one, later than signal_count::echo_time, ends the process at once. In a
/// child process that was started for a replica it runs that, and doesn't return.
///
/// Returns 0 when `main` has returned or a node was told to end, 1 when `main` threw (the error is
/// on stderr), 2 for a wrong argument, a metrics port that is taken or a trace that can't be
/// written, 130 when cancelled.
int run(int argc, char** argv, task<> (*main)(system&));

/// Serves metrics, such as a system's. Port 0 serves nothing and gives null. A busy port that was
/// asked for throws port_busy; one that was not gives way to the next free one.
std::unique_ptr<metrics_server> serve_metrics(metrics_registry& metrics, const metrics_place& at);
std::unique_ptr<metrics_server> serve_metrics(system& sys, const metrics_place& at);

/// While it lives, SIGINT and SIGTERM call `on_first`, on a thread of its own; a second one ends
/// the process at once with exit code 130, unless it follows so soon that it is the first one's
/// echo (signal_count). One at a time.
class signal_watch {
 public:
  explicit signal_watch(std::function<void()> on_first);
  ~signal_watch();
  signal_watch(const signal_watch&) = delete;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace troupe
