// What OpenEnv costs. CPU time is of this process alone: servers have their own.
//
//   client_cpu_us_per_step             our client's CPU for a step, of 32 sessions on a fast server
//   client_cpu_us_per_step_1_session   of one session
//   held_errors                        of 1,000 sessions, held for 60 s (--hold SECONDS)
//   served_1_session_ratio             steps a second of `troupe serve-env` over those of the real
//                                      Python server, to one client in one run; left out where that
//                                      one can't be installed
//   served_32_sessions_ratio           of 32 sessions

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/bench/openenv_client.hpp"
#include "tests/bench/openenv_served.hpp"

int main(int argc, char** argv) {
  bool as_json = false;
  int seconds = 60;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--json")) as_json = true;
    if (!std::strcmp(argv[i], "--hold") && i + 1 < argc) seconds = std::atoi(argv[++i]);
  }
  nlohmann::json results;
  troupe::openenv::measure_served(results);  // which forks, so before there are threads
  const troupe::openenv::server_process server;
  troupe::openenv::measure_client(server, results);
  if (seconds > 0) troupe::openenv::hold_sessions(server, seconds, results);
  if (as_json) std::printf("%s\n", results.dump().c_str());
}
