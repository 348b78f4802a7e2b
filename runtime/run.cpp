#include "runtime/run.hpp"

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

#include "runtime/log.hpp"

namespace troupe {

std::unique_ptr<metrics_server> serve_metrics(system& sys, int port, bool asked) {
  if (port == 0) return nullptr;
  auto server = std::make_unique<metrics_server>(
      sys.metrics(),
      metrics_server_options{.port = static_cast<std::uint16_t>(port), .next_free = !asked});
  if (server->port() != port) {
    log::info("the metrics port is busy; another is used",
              {{"busy", port}, {"port", server->port()}});
  }
  return server;
}

// ---- signals

struct signal_watch::state {
  std::function<void()> on_first;
  std::atomic<bool> stopping{false};
  sigset_t watched{};
  sigset_t before{};
  std::thread thread;

  void watch() {
    int seen = 0;
    const timespec pause{0, 100'000'000};
    while (!stopping.load()) {
      if (sigtimedwait(&watched, nullptr, &pause) < 0) continue;
      if (++seen > 1) _exit(130);
      on_first();
    }
  }
};

signal_watch::signal_watch(std::function<void()> on_first) : state_(std::make_unique<state>()) {
  state_->on_first = std::move(on_first);
  sigemptyset(&state_->watched);
  sigaddset(&state_->watched, SIGINT);
  sigaddset(&state_->watched, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &state_->watched, &state_->before);
  state_->thread = std::thread([this] { state_->watch(); });
}

signal_watch::~signal_watch() {
  state_->stopping = true;
  state_->thread.join();
  pthread_sigmask(SIG_SETMASK, &state_->before, nullptr);
}

// ---- run

int run(int argc, char** argv, task<> (*main)(system&)) {
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
  app.add_flag("--deterministic", options.deterministic,
               "one thread, virtual time, an order drawn from --seed");
  app.add_option("--seed", options.seed, "of everything that is drawn");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  log::set_level(log_level);

  system* running = nullptr;
  std::mutex mutex;
  signal_watch signals([&] {
    std::lock_guard lock(mutex);
    if (running) running->cancel();
  });
  try {
    system sys(options);
    const auto metrics = serve_metrics(sys, port, port_option->count() > 0);
    {
      std::lock_guard lock(mutex);
      running = &sys;
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
  } catch (const call_error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return e.kind() == error_kind::cancelled ? 130 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}

}  // namespace troupe
