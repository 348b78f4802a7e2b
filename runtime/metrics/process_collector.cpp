#include "runtime/metrics/process_collector.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include "runtime/base/usable_descriptors.hpp"

namespace troupe::detail {

namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

struct process_stat {
  double cpu_seconds;
  double threads;
  double start_seconds;  ///< Seconds from the machine's start to the process's start.
  double resident_bytes;
};

/// Reads /proc/self/stat; proc(5) numbers its fields from 1.
std::optional<process_stat> read_stat() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  // Field 2 is the program's name in parentheses, and may hold spaces and parentheses itself.
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream rest(text.substr(name_end + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(rest), {}};
  if (fields.size() < 22) return {};
  const auto field = [&](std::size_t number) { return std::stod(fields[number - 3]); };
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return process_stat{(field(14) + field(15)) / ticks, field(20), field(22) / ticks,
                      field(24) * static_cast<double>(sysconf(_SC_PAGESIZE))};
}

/// Returns the time at which the machine started, in seconds since 1970.
std::optional<double> boot_time() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  }
  return {};
}

std::optional<double> open_files() {
  std::error_code error;
  std::filesystem::directory_iterator entries("/proc/self/fd", error);
  if (error) return {};
  const auto count = std::distance(begin(entries), end(entries));
  return static_cast<double>(count - 1);  // The directory itself is open, too.
}

std::optional<double> open_files_max() {
  const auto limit = usable_descriptors();
  if (!limit) return {};
  return static_cast<double>(*limit);
}

MetricFamily make_family(std::string name, std::string help, MetricType type, double value) {
  MetricFamily family{std::move(name), std::move(help), type, {}};
  auto& metric = family.metric.emplace_back();
  (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  return family;
}

}  // namespace

std::vector<MetricFamily> process_collector::Collect() const {
  std::vector<MetricFamily> families;
  const auto add = [&](const char* name, const char* help, MetricType type, double value) {
    families.push_back(make_family(name, help, type, value));
  };
  if (const auto stat = read_stat()) {
    add("process_cpu_seconds_total", "User and system CPU time spent, in seconds.",
        MetricType::Counter, stat->cpu_seconds);
    add("process_resident_memory_bytes", "Resident memory, in bytes.", MetricType::Gauge,
        stat->resident_bytes);
    add("process_threads", "Threads of the process.", MetricType::Gauge, stat->threads);
    if (const auto boot = boot_time()) {
      add("process_start_time_seconds", "Start of the process, in seconds since 1970.",
          MetricType::Gauge, *boot + stat->start_seconds);
    }
  }
  if (const auto count = open_files()) {
    add("process_open_fds", "Open file descriptors.", MetricType::Gauge, *count);
  }
  if (const auto count = open_files_max()) {
    add("process_max_fds", "Most file descriptors the process may open.", MetricType::Gauge,
        *count);
  }
  add("troupe_build_info", "1, labelled with the version that runs.", MetricType::Gauge, 1);
  families.back().metric.back().label.push_back({"version", TROUPE_VERSION});
  return families;
}

}  // namespace troupe::detail
