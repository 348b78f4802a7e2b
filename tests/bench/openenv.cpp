// What OpenEnv costs. CPU time is of this process alone: servers have their own.
//
//   client_cpu_us_per_step             our client's CPU for a step, of 32 sessions on a fast server
//   client_cpu_us_per_step_1_session   of one session
//   held_errors                        of 1,000 sessions, held for 60 s (--hold SECONDS)
//   served_1_session_raw_load_ratio    steps a second of `troupe serve-env` over those of the real
//                                      Python server, to a load generator on raw sockets; left out
//                                      where that server can't be installed
//   served_32_sessions_raw_load_ratio  of 32 sessions
//   served_1_session_python_client_ratio, served_32_sessions_python_client_ratio
//                                      the same with the real Python client, with asyncio
//   at_once_600_raw_load_failures, at_once_600_python_client_failures
//                                      of 600 clients of `troupe serve-env` that come at once
//   async_over_sync                    steps a second of the asynchronous loop over the synchronous
//                                      one's on a slow server, beside what its times allow; with
//                                      stale_ and computing_ before it of harder cases
//                                      (openenv_loops.hpp)
//
// --only served|client|held|loops: that part alone.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/bench/openenv_client.hpp"
#include "tests/bench/openenv_loops.hpp"
#include "tests/bench/openenv_served.hpp"

int main(int argc, char** argv) {
  bool as_json = false;
  int seconds = 60;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--json")) as_json = true;
    if (!std::strcmp(argv[i], "--only") && i + 1 < argc) only = argv[++i];
    if (!std::strcmp(argv[i], "--hold") && i + 1 < argc) seconds = std::atoi(argv[++i]);
  }
  const auto wanted = [&](const char* part) { return only.empty() || only == part; };
  nlohmann::json results;
  // The first ones fork, so they come before there are threads.
  if (wanted("served")) troupe::openenv::measure_served(results);
  if (wanted("client") || wanted("held")) {
    const troupe::openenv::server_process server;
    if (wanted("client")) troupe::openenv::measure_client(server, results);
    if (wanted("held") && seconds > 0) troupe::openenv::hold_sessions(server, seconds, results);
  }
  if (wanted("loops")) troupe::openenv::measure_loops(results);
  if (as_json) std::printf("%s\n", results.dump().c_str());
}
