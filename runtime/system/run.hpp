#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/metrics/metrics_place.hpp"
#include "runtime/metrics/metrics_server.hpp"
#include "runtime/system/system.hpp"

namespace troupe {

/// Runs a program's main coroutine in a system: `int main(int argc, char** argv) { return
/// troupe::run(argc, argv, demo); }`. It understands the options `--threads`, `--metrics-port`,
/// `--metrics-address`, `--metrics-allow-host`, `--log-level`, `--deterministic`, `--seed`,
/// `--faults`, `--trace`,
/// `--certs`, `--join-secret` and `--help`, and two modes: `controller --listen HOST:PORT` runs the
/// program with nodes that join it, and `node --join HOST:PORT --name NAME` runs what a controller
/// places on this node. SIGINT, SIGTERM and SIGHUP cancel the coroutine; a second signal later than
/// signal_count::echo_time ends the process at once. In a child process that was started for a
/// replica, the function runs the replica and doesn't return.
///
/// Returns 0 if `main` has returned or a node was told to end, 1 if `main` threw (the error is
/// printed to stderr), 2 for a wrong argument, a busy metrics port or a trace that can't be
/// written, and 130 if the program was cancelled.
int run(int argc, char** argv, task<> (*main)(system&));

/// Serves metrics, such as a system's, over HTTP. Returns null if the port is 0. Throws port_busy
/// if the port was asked for and is busy; a busy default port is replaced by the next free one, and
/// the log says so.
std::unique_ptr<metrics_server> serve_metrics(metrics_registry& metrics, const metrics_place& at);
std::unique_ptr<metrics_server> serve_metrics(system& sys, const metrics_place& at);

/// Checks the address at which nodes are to join and the folder of certificates (see
/// system_options::listen and certs), and makes nothing. Throws std::exception with what is wrong,
/// as system's constructor would.
void check_listener(const std::string& listen, const std::string& certs);

/// Calls `on_first` on a thread of its own at the first SIGINT, SIGTERM or SIGHUP, as long as the
/// object lives. A SIGHUP that was ignored before, as under nohup, stays ignored. SIGPIPE and
/// SIGXFSZ are ignored, and stay so, because what was printed may be written later. A second signal
/// ends the process at once with exit code 130, unless it follows so soon that it is the first
/// one's echo (see signal_count). If the object still lives at `limit` after the first signal, the
/// process ends with exit code 70, whatever its other threads do, and the log names the services
/// whose replicas hold a thread. Throws std::logic_error if there is another signal_watch.
class signal_watch {
 public:
  explicit signal_watch(std::function<void()> on_first, duration limit = no_limit);
  ~signal_watch();
  signal_watch(const signal_watch&) = delete;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace troupe
