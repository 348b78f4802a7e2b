#include "actors/openenv/server/default_limits.hpp"

#include <algorithm>

#include "actors/openenv/server/byte_budget.hpp"

namespace troupe::openenv_server {

namespace {

constexpr std::size_t memory_bytes_most = std::size_t{1} << 30;
constexpr std::size_t sessions_most = 1024;
constexpr std::size_t sessions_a_core = 8;
/// A process of Python that has imported Gymnasium and NumPy, and an environment.
constexpr std::size_t process_bytes = std::size_t{128} << 20;

}  // namespace

std::size_t default_memory_bytes(std::size_t usable_memory, std::size_t message_bytes_max) {
  return std::max(std::min(memory_bytes_most, usable_memory / 8), least_budget(message_bytes_max));
}

std::size_t default_sessions(bool in_processes, std::size_t cores, std::size_t usable_memory) {
  if (!in_processes) return sessions_most;
  const auto room = usable_memory / 2 / process_bytes;
  return std::clamp<std::size_t>(std::min(sessions_a_core * cores, room), 1, sessions_most);
}

}  // namespace troupe::openenv_server
