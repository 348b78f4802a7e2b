#include <sys/resource.h>

#include <cstdio>
#include <future>
#include <stdexcept>

#include "actors/openenv/server/server.hpp"
#include "actors/worlds/registry.hpp"
#include "deploy/troupe/commands.hpp"
#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/system/run.hpp"

namespace troupe::command {

namespace {

constexpr std::size_t other_descriptors = 512;  // for threads, libraries, refusals and metrics

/// Raises the limit of open files, since each session and each other connection takes one
/// descriptor. Throws std::runtime_error if the hard limit is too low.
void allow_descriptors(const serve_env_arguments& arguments) {
  const auto wanted =
      static_cast<rlim_t>(arguments.sessions + arguments.connections + other_descriptors);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  if (limit.rlim_max < wanted || setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    throw std::runtime_error("--sessions " + std::to_string(arguments.sessions) +
                             " and --connections " + std::to_string(arguments.connections) +
                             ": expected room for " + std::to_string(wanted) +
                             " open files, got a limit of " + std::to_string(limit.rlim_max) +
                             "; raise it with ulimit -n");
  }
}

openenv_server::environment_maker maker(const serve_env_arguments& arguments) {
  const wrapper_options wrappers{.max_episode_steps = arguments.max_episode_steps,
                                 .frames = arguments.frame_stack,
                                 .rescale_actions = arguments.rescale_action};
  return [request = environment_request{.id = arguments.env, .wrappers = wrappers}] {
    return make_vector_environment(request, 1);
  };
}

/// Serves the metrics. The server is not ready after the first signal, since it accepts no new
/// sessions then.
std::unique_ptr<metrics_server> serve_own_metrics(const metrics_registry& metrics,
                                                  const openenv_server::server& server,
                                                  const serve_env_arguments& arguments) {
  const auto& at = arguments.metrics;
  if (at.port == 0) return nullptr;
  return std::make_unique<metrics_server>(
      metrics, metrics_server_options{.address = at.address,
                                      .port = static_cast<std::uint16_t>(at.port),
                                      .next_free = !at.port_asked,
                                      .is_ready = [&server] { return !server.is_draining(); },
                                      .allowed_hosts = at.allowed_hosts});
}

}  // namespace

int serve_env(const serve_env_arguments& arguments) {
  try {
    allow_descriptors(arguments);
    metrics_registry metrics;
    openenv_server::server server(maker(arguments),
                                  {.address = arguments.host,
                                   .port = arguments.port,
                                   .allowed_origins = arguments.allowed_origins,
                                   .sessions_max = arguments.sessions,
                                   .connections_max = arguments.connections,
                                   .threads = arguments.threads,
                                   .message_bytes_max = arguments.message_bytes,
                                   .idle_timeout = std::chrono::seconds(arguments.idle_timeout_s)},
                                  metrics);
    const auto metrics_page = serve_own_metrics(metrics, server, arguments);
    std::promise<void> told_to_end;
    const signal_watch signals([&] { told_to_end.set_value(); });
    std::printf("serving %s at http://%s:%u, at most %zu sessions\n", arguments.env.c_str(),
                arguments.host.c_str(), unsigned{server.port()}, arguments.sessions);
    std::fflush(stdout);

    told_to_end.get_future().wait();
    log::info("the server ends after its last session, or after a time limit",
              {{"seconds", arguments.drain_s}});
    server.drain(std::chrono::seconds(arguments.drain_s));
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "troupe serve-env: %s\n", e.what());
    return 2;
  }
}

}  // namespace troupe::command
