#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <stdexcept>

#include "actors/openenv/server/default_limits.hpp"
#include "actors/openenv/server/server.hpp"
#include "actors/worlds/registry.hpp"
#include "deploy/troupe/commands.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/print_error.hpp"
#include "runtime/base/usable_cores.hpp"
#include "runtime/base/usable_memory.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/system/run.hpp"

namespace troupe::command {

namespace {

constexpr std::size_t other_descriptors = 512;  // for threads, libraries, refusals and metrics
/// The time after --drain for closing the last sessions and for the steps that are still under way.
/// The process then ends without them, since a step may hang.
constexpr auto end_time = std::chrono::seconds(10);

/// Raises the limit of open files, since each session and each other connection takes one
/// descriptor. Throws std::runtime_error if the hard limit is too low.
void allow_descriptors(std::size_t sessions, std::size_t connections) {
  const auto wanted = static_cast<rlim_t>(sessions + connections + other_descriptors);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  if (limit.rlim_max < wanted || setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    throw std::runtime_error("--sessions " + std::to_string(sessions) + " and --connections " +
                             std::to_string(connections) + ": expected room for " +
                             std::to_string(wanted) + " open files, got a limit of " +
                             std::to_string(limit.rlim_max) + "; raise it with ulimit -n");
  }
}

/// Returns the limit of sessions, and says what a default follows.
std::size_t sessions_of(const serve_env_arguments& arguments) {
  if (arguments.sessions) return *arguments.sessions;
  const bool in_processes = traits_of(arguments.env).blocks;
  const auto sessions =
      openenv_server::default_sessions(in_processes, usable_cores(), usable_memory());
  if (in_processes) {
    log::info(
        "each session is a process, so their number follows the machine; --sessions sets it",
        {{"sessions", sessions}, {"cores", usable_cores()}, {"memory_bytes", usable_memory()}});
  }
  return sessions;
}

/// True for Troupe's own environments, whose every call returns. Code of the user, in Python or in
/// a plug-in, may hang. This program registers no environments, so those that it knows are
/// Troupe's.
bool always_returns(const std::string& id) {
  return std::ranges::count(known_environments(), id) > 0;
}

openenv_server::server_options server_options_of(const serve_env_arguments& arguments) {
  const auto sessions = sessions_of(arguments);
  const auto memory =
      openenv_server::default_memory_bytes(usable_memory(), arguments.message_bytes);
  return {.address = arguments.host,
          .port = arguments.port,
          .allowed_origins = arguments.allowed_origins,
          .allowed_hosts = arguments.allowed_hosts,
          .sessions_max = sessions,
          .connections_max = arguments.connections,
          .inline_steps = always_returns(arguments.env),
          .threads = arguments.threads.value_or(std::min<std::size_t>(32, sessions)),
          .message_bytes_max = arguments.message_bytes,
          .memory_bytes_max = arguments.memory_bytes.value_or(memory),
          .idle_timeout = std::chrono::seconds(arguments.idle_timeout_s)};
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
    const auto options = server_options_of(arguments);
    allow_descriptors(options.sessions_max, options.connections_max);
    metrics_registry metrics;
    auto server = std::make_unique<openenv_server::server>(maker(arguments), options, metrics);
    auto metrics_page = serve_own_metrics(metrics, *server, arguments);
    std::promise<void> told_to_end;
    const signal_watch signals([&] { told_to_end.set_value(); },
                               std::chrono::seconds(arguments.drain_s) + end_time);
    std::printf("serving %s at http://%s:%u, at most %zu sessions\n", arguments.env.c_str(),
                arguments.host.c_str(), unsigned{server->port()}, options.sessions_max);
    std::fflush(stdout);

    told_to_end.get_future().wait();
    log::info("the server ends after its last session, or after a time limit",
              {{"seconds", arguments.drain_s}});
    server->drain(std::chrono::seconds(arguments.drain_s));
    metrics_page.reset();  // it asks the server whether it is ready
    server.reset();        // waits for steps under way, at most until the limit of the signals
    return 0;
  } catch (const std::exception& e) {
    print_error("troupe serve-env", e.what());
    return 2;
  }
}

}  // namespace troupe::command
