#pragma once
// The client half of the OpenEnv benchmark.

#include <nlohmann/json.hpp>

namespace troupe::openenv {

/// A fast server in a process of its own, started before this one has threads.
struct server_process {
  server_process();
  ~server_process();
  server_process(const server_process&) = delete;
  int pid = 0;
  std::string url;
};

/// client_cpu_us_per_step: our CPU time for one step, of 32 sessions together and of one alone.
void measure_client(const server_process& server, nlohmann::json& results);

/// 1,000 sessions that each step about once a second, for so many seconds.
void hold_sessions(const server_process& server, int seconds, nlohmann::json& results);

}  // namespace troupe::openenv
