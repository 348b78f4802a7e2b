#include "runtime/base/usable_cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "runtime/base/control_group_of.hpp"
#include "runtime/base/log.hpp"

namespace troupe {

namespace {

namespace fs = std::filesystem;

/// The cores of the affinity of this process; 0 if the kernel does not tell it.
std::size_t affinity_of_process() {
  // The kernel refuses a set that is smaller than its own, which may have thousands of cores.
  for (std::size_t bytes = sizeof(cpu_set_t); bytes <= (std::size_t{1} << 20); bytes *= 2) {
    std::vector<cpu_set_t> set((bytes + sizeof(cpu_set_t) - 1) / sizeof(cpu_set_t));
    if (::sched_getaffinity(0, bytes, set.data()) == 0)
      return static_cast<std::size_t>(CPU_COUNT_S(bytes, set.data()));
    if (errno != EINVAL) return 0;
  }
  return 0;
}

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::vector<std::string> words_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> words;
  for (std::string word; words.size() < 3 && in >> word;) words.push_back(word);
  return words;
}

/// The cores of a quota in microseconds of each period; nullopt if it is none.
std::optional<double> cores_of(std::string_view quota, std::string_view period) {
  const auto used = number_of(quota), each = number_of(period);
  if (!used || !each || *used <= 0 || *each <= 0) return std::nullopt;
  return *used / *each;
}

/// Version 2: cpu.max is "150000 100000", or "max 100000" without a quota.
std::optional<double> quota_in_v2(const fs::path& group) {
  const auto words = words_of(group / "cpu.max");
  return words.size() == 2 ? cores_of(words[0], words[1]) : std::nullopt;
}

/// Version 1: a quota of -1 is none.
std::optional<double> quota_in_v1(const fs::path& group) {
  const auto quota = words_of(group / "cpu.cfs_quota_us");
  const auto period = words_of(group / "cpu.cfs_period_us");
  return quota.size() == 1 && period.size() == 1 ? cores_of(quota[0], period[0]) : std::nullopt;
}

}  // namespace

core_count detail::count_cores(std::size_t machine, std::size_t affinity, const fs::path& root) {
  core_count count{.cores = std::max<std::size_t>(machine, 1)};
  const auto limit = [&](std::size_t cores, const char* by) {
    if (cores < count.cores) count = {.cores = std::max<std::size_t>(cores, 1), .limit = by};
  };
  if (affinity > 0) limit(affinity, "the affinity");
  const auto limit_to = [&](std::optional<double> quota, const char* by) {
    // A quota of more cores than any machine has is none.
    if (quota && *quota < 1e6) limit(static_cast<std::size_t>(std::ceil(*quota)), by);
  };
  limit_to(smallest_limit(control_group_of("", root), quota_in_v2), "the quota of cgroup v2");
  limit_to(smallest_limit(control_group_of("cpu", root), quota_in_v1), "the quota of cgroup v1");
  return count;
}

const core_count& usable_core_count() {
  static const core_count counted = [] {
    const auto affinity = affinity_of_process();
    const long machine = ::sysconf(_SC_NPROCESSORS_ONLN);
    const auto cores = machine > 0 ? static_cast<std::size_t>(machine) : affinity;
    return detail::count_cores(std::max(cores, affinity), affinity, "/");
  }();
  return counted;
}

std::size_t usable_cores() { return usable_core_count().cores; }

void tell_usable_cores() {
  static std::once_flag told;
  std::call_once(told, [] {
    const auto& count = usable_core_count();
    const bool is_limited = count.limit != core_count().limit;
    const auto tell = is_limited ? log::info : log::debug;
    tell("the cores that this process may use were counted",
         {{"cores", count.cores}, {"limit", count.limit}});
  });
}

}  // namespace troupe
