#include "runtime/run.hpp"

#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "runtime/log.hpp"
#include "runtime/process/process_site.hpp"
#include "runtime/signal_count.hpp"
#include "runtime/trace/trace_file.hpp"

namespace troupe {

std::unique_ptr<metrics_server> serve_metrics(system& sys, int port, bool asked) {
  return serve_metrics(sys.metrics(), port, asked);
}

std::unique_ptr<metrics_server> serve_metrics(metrics_registry& metrics, int port, bool asked) {
  if (port == 0) return nullptr;
  auto server = std::make_unique<metrics_server>(
      metrics,
      metrics_server_options{.port = static_cast<std::uint16_t>(port), .next_free = !asked});
  if (server->port() != port) {
    log::info("the metrics port is busy; another is used",
              {{"busy", port}, {"port", server->port()}});
  }
  return server;
}

// ---- signals

// A handler and not a blocked signal, because libraries have threads from before main on:
// OpenBLAS's would take the signal and end the process.
struct signal_watch::state {
  explicit state(std::function<void()> on_first) : on_first(std::move(on_first)) {
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
    for (;;) {
      if (sem_wait(&came) != 0) continue;  // EINTR
      if (stopping.load()) return;
      on_first();
    }
  }

  static inline std::atomic<state*> watching{nullptr};

  std::function<void()> on_first;
  signal_count count;
  std::atomic<bool> stopping{false};
  sem_t came;
  struct sigaction before_int{};
  struct sigaction before_term{};
  std::thread thread;
};

signal_watch::signal_watch(std::function<void()> on_first)
    : state_(std::make_unique<state>(std::move(on_first))) {
  state* none = nullptr;
  if (!state::watching.compare_exchange_strong(none, state_.get())) {
    throw std::logic_error("signal_watch: expected one at a time");
  }
  state_->thread = std::thread([this] { state_->watch(); });
  struct sigaction action{};
  action.sa_handler = state::note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &state_->before_int);
  sigaction(SIGTERM, &action, &state_->before_term);
}

signal_watch::~signal_watch() {
  sigaction(SIGINT, &state_->before_int, nullptr);
  sigaction(SIGTERM, &state_->before_term, nullptr);
  state::watching = nullptr;
  state_->stopping = true;
  sem_post(&state_->came);
  state_->thread.join();
}

// ---- run

int run(int argc, char** argv, task<> (*main)(system&)) {
  detail::serve_parent_if_child();
  CLI::App app("A Troupe program.");
  system_options options;
  int port = 0;
  std::string log_level = "info";
  app.add_option("--threads", options.threads, "threads of the pool; 0: one a core")
      ->check(CLI::Range(0, 1024));
  auto* port_option =
      app.add_option("--metrics-port", port, "serve Prometheus metrics here; 0: don't")
          ->check(CLI::Range(0, 65535));
  app.add_option("--log-level", log_level, "debug, info, warn, error or off")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}));
  auto* deterministic = app.add_flag("--deterministic", options.deterministic,
                                     "one thread, virtual time, an order drawn from --seed");
  app.add_option("--seed", options.seed, "of everything that is drawn");
  std::string faults;
  auto* faults_option =
      app.add_option("--faults", faults,
                     "what goes wrong on purpose: random, or such as crash=0.001,delay=0.01:50ms")
          ->needs(deterministic);
  std::string trace_path;
  app.add_option("--trace", trace_path,
                 "write what the actors do to this file, for chrome://tracing or ui.perfetto.dev");
  try {
    app.parse(argc, argv);
    if (faults_option->count() > 0) options.faults = fault_plan::parse(faults);
  } catch (const fault_plan_error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  log::set_level(log_level);

  system* running = nullptr;
  bool told_to_end = false;
  std::mutex mutex;
  signal_watch signals([&] {
    std::lock_guard lock(mutex);
    told_to_end = true;
    if (running) running->cancel();
  });
  try {
    const trace_file traced(trace_path);
    options.trace = traced.trace();
    system sys(options);
    const auto metrics = serve_metrics(sys, port, port_option->count() > 0);
    {
      std::lock_guard lock(mutex);
      running = &sys;
      if (told_to_end) sys.cancel();  // While the system was being made.
    }
    std::exception_ptr error;
    try {
      sys.run(main(sys));
    } catch (...) {
      error = std::current_exception();
    }
    {
      std::lock_guard lock(mutex);
      running = nullptr;
    }
    if (error) std::rethrow_exception(error);
    return 0;
  } catch (const port_busy& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  } catch (const trace_file_error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  } catch (const call_error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return e.kind() == error_kind::cancelled ? 130 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}

}  // namespace troupe
