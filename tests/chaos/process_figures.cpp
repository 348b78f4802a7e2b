#include "tests/chaos/process_figures.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/metrics/process_collector.hpp"

namespace troupe::chaos {

namespace {

/// By the first 15 characters of its name, which are what the system keeps.
bool is_of_a_grpc_pool(const std::string& name) {
  return name == "default-executo" || name == "grpc_global_tim" || name == "event_engine";
}

std::int64_t count_threads() {
  std::int64_t count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    count += !name.empty() && !is_of_a_grpc_pool(name);
  }
  return count;
}

}  // namespace

process_figures read_process_figures() {
  process_figures figures{.threads = count_threads()};
  for (const auto& family : detail::process_collector().Collect()) {
    const auto value = static_cast<std::int64_t>(family.metric.front().gauge.value);
    if (family.name == "process_resident_memory_bytes") figures.resident_bytes = value;
    if (family.name == "process_open_fds") figures.descriptors = value;
  }
  return figures;
}

}  // namespace troupe::chaos
