#include "runtime/system/run.hpp"

#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "runtime/base/failing_writes.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/print_error.hpp"
#include "runtime/base/signal_count.hpp"
#include "runtime/cluster/credentials.hpp"
#include "runtime/cluster/listen_address.hpp"
#include "runtime/service/supervision/readiness.hpp"
#include "runtime/system/child_process.hpp"
#include "runtime/system/node.hpp"
#include "runtime/system/program_arguments.hpp"
#include "runtime/system/system_core.hpp"
#include "runtime/trace/trace_file.hpp"

namespace troupe {

std::unique_ptr<metrics_server> serve_metrics(system& sys, const metrics_place& at) {
  return serve_metrics(sys.metrics(), at);
}

std::unique_ptr<metrics_server> serve_metrics(metrics_registry& metrics, const metrics_place& at) {
  if (at.port == 0) return nullptr;
  const auto services = std::make_shared<readiness>(metrics);
  auto server = std::make_unique<metrics_server>(
      metrics,
      metrics_server_options{
          .address = at.address,
          .port = static_cast<std::uint16_t>(at.port),
          .next_free = !at.port_asked,
          .is_live = [&metrics] { return is_live(metrics); },
          .is_ready = [services] { return services->at(std::chrono::steady_clock::now()); },
          .allowed_hosts = at.allowed_hosts});
  if (server->port() != at.port) {
    log::info("the metrics port is busy, so another port is used",
              {{"busy", at.port}, {"port", server->port()}});
  }
  return server;
}

void check_listener(const std::string& listen, const std::string& certs) {
  if (!certs.empty()) detail::load_credentials(certs, "controller");
  detail::check_listen_address(listen, !certs.empty());
}

// ---- signals

// The signals are handled rather than blocked, because some libraries start threads before main. A
// thread of OpenBLAS would take a blocked signal and end the process.
struct signal_watch::state {
  state(std::function<void()> on_first, duration limit)
      : on_first(std::move(on_first)), limit(limit) {
    sem_init(&came, 0, 0);
  }
  ~state() { sem_destroy(&came); }

  static void note(int) {
    const int kept = errno;
    if (auto* state = watching.load()) state->note();
    errno = kept;
  }

  void note() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const auto at = std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
    const auto meaning = count.note(at);
    if (meaning == signal_count::meaning::first) sem_post(&came);
    if (meaning == signal_count::meaning::second) _exit(130);
  }

  void watch() {
    wait();
    if (stopping.load()) return;
    on_first();
    if (limit == no_limit) return;
    detail::hung_services(limit);  // The turns that are seen here are looked at again.
    if (wait_for(limit)) return;
    log::error("the program did not end in time after a signal; leaving without it",
               {{"limit", detail::to_text(limit)},
                {"services_with_hung_replicas", detail::hung_services(limit / 2)}});
    std::fflush(nullptr);
    _exit(70);  // EX_SOFTWARE
  }

  void wait() {
    while (sem_wait(&came) != 0) {  // EINTR
    }
  }
  bool wait_for(duration time) {
    const auto until = detail::later(std::chrono::steady_clock::now(), time).time_since_epoch();
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(until);
    const timespec at{whole.count(), (until - whole).count()};
    for (;;) {
      if (sem_clockwait(&came, CLOCK_MONOTONIC, &at) == 0) return true;
      if (errno == ETIMEDOUT) return false;
    }
  }

  static inline std::atomic<state*> watching{nullptr};

  const std::function<void()> on_first;
  const duration limit;
  signal_count count;
  std::atomic<bool> stopping{false};
  sem_t came;
  /// What each signal did before.
  std::map<int, struct sigaction> before;
  std::thread thread;
};

signal_watch::signal_watch(std::function<void()> on_first, duration limit)
    : state_(std::make_unique<state>(std::move(on_first), limit)) {
  state* none = nullptr;
  if (!state::watching.compare_exchange_strong(none, state_.get())) {
    throw std::logic_error("signal_watch: expected one at a time");
  }
  state_->thread = std::thread([this] { state_->watch(); });
  struct sigaction action{};
  action.sa_handler = state::note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    auto& before = state_->before[signal];
    sigaction(signal, nullptr, &before);
    const bool under_nohup = signal == SIGHUP && before.sa_handler == SIG_IGN;
    if (!under_nohup) sigaction(signal, &action, nullptr);
  }
  detail::let_writes_fail();
}

signal_watch::~signal_watch() {
  for (const auto& [signal, before] : state_->before) sigaction(signal, &before, nullptr);
  state::watching = nullptr;
  state_->stopping = true;
  sem_post(&state_->came);
  state_->thread.join();
}

// ---- run

namespace {

/// Prints the error with which a program has ended, and returns its exit code.
int tell(const std::exception_ptr& error, bool is_node) {
  try {
    std::rethrow_exception(error);
  } catch (const port_busy& e) {
    print_error(e.what());
    return 2;
  } catch (const metrics_place_error& e) {
    print_error(e.what());
    return 2;
  } catch (const trace_file_error& e) {
    print_error(e.what());
    return 2;
  } catch (const call_error& e) {
    // A cancelled node has ended as asked.
    if (is_node && e.kind() == error_kind::cancelled) return 0;
    print_error(e.what());
    return e.kind() == error_kind::cancelled ? 130 : 1;
  } catch (const std::exception& e) {
    print_error("error", e.what());
    return 1;
  }
}

task<> run_with_nodes(system& sys, task<> (*main)(system&), std::size_t nodes) {
  if (nodes > 0) co_await sys.wait_for_nodes(nodes);
  co_await main(sys);
}

/// Runs as a node until it is cancelled.
task<> be_a_node(system& sys, detail::link_client_options join) {
  const detail::node mine(sys, std::move(join));
  for (;;) co_await sleep_for(std::chrono::hours(24));
}

}  // namespace

int run(int argc, char** argv, task<> (*main)(system&)) {
  detail::serve_parent_if_child();
  const auto read = detail::read_arguments(argc, argv);
  if (const int* code = std::get_if<int>(&read)) return *code;
  const auto& arguments = std::get<detail::program_arguments>(read);
  log::set_level(arguments.log_level);

  system* running = nullptr;
  bool told_to_end = false;
  std::mutex mutex;
  signal_watch signals(
      [&] {
        std::lock_guard lock(mutex);
        told_to_end = true;
        if (running) running->cancel();
      },
      arguments.system.stop_limit);
  try {
    const trace_file traced(arguments.trace);
    auto options = arguments.system;
    options.trace = traced.trace();
    system sys(options);
    const auto metrics = serve_metrics(sys, arguments.metrics);
    {
      std::lock_guard lock(mutex);
      running = &sys;
      if (told_to_end) sys.cancel();  // The signal came while the system was being made.
    }
    int code = 0;
    try {
      sys.run(arguments.join ? be_a_node(sys, *arguments.join)
                             : run_with_nodes(sys, main, arguments.nodes));
    } catch (...) {
      // Told before the system ends, because a hung replica makes that the end of the process.
      code = tell(std::current_exception(), arguments.join.has_value());
    }
    {
      std::lock_guard lock(mutex);
      running = nullptr;
    }
    return code;
  } catch (...) {
    return tell(std::current_exception(), arguments.join.has_value());
  }
}

}  // namespace troupe
