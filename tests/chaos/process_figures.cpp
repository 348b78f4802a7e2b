#include "tests/chaos/process_figures.hpp"

#include <filesystem>
#include <iterator>

#include "runtime/metrics/process_collector.hpp"

namespace troupe::chaos {

namespace {

std::int64_t count_threads() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return std::distance(begin(threads), end(threads));
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
