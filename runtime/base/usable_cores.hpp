#pragma once
// How many cores this process may use.

#include <cstddef>
#include <filesystem>
#include <string>

namespace troupe {

/// A number of cores, and what limits it.
struct core_count {
  std::size_t cores = 1;
  /// "the machine", "the affinity", "the quota of cgroup v2" or "the quota of cgroup v1".
  std::string limit = "the machine";
  bool operator==(const core_count&) const = default;
};

/// Returns the number of cores that this process may use: the smaller of the cores of its affinity
/// (sched_setaffinity, taskset, `docker run --cpuset-cpus`) and the quota of its control group and
/// the groups above it (`docker run --cpus`, Kubernetes' CPU limits), of either version. A quota of
/// 1.5 cores counts as 2: with a single thread a third of it would never be used, and with two the
/// kernel holds both back a little. The first call counts, later ones return the same number, and
/// it is what every pool of threads, every default of replicas and every benchmark goes by.
std::size_t usable_cores();
/// The same with what limits the number.
const core_count& usable_core_count();
/// Logs the number and what limits it, once in a process. Systems call it when they begin.
void tell_usable_cores();

namespace detail {
/// Counts by the files below `root`, which /proc and the mounts of control groups are looked for
/// in. `machine` and `affinity` are numbers of cores. Files that can't be read, or that have
/// another form than the kernel's, are no limit.
core_count count_cores(std::size_t machine, std::size_t affinity,
                       const std::filesystem::path& root);
}  // namespace detail

}  // namespace troupe
