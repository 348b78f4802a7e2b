#include "runtime/base/usable_cores.hpp"

#include <fstream>
#include <string>

#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

namespace fs = std::filesystem;

/// A root folder in which /proc and the control groups are files of a test.
struct made_root {
  void write(const std::string& name, const std::string& text) const {
    const auto path = folder.path / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  void mount_v2(const std::string& group, const std::string& root = "/") const {
    write("proc/self/cgroup", "0::" + group);
    write("proc/self/mountinfo",
          "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
          "30 22 0:26 " +
              root + " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw");
  }
  void mount_v1(const std::string& group, const std::string& root = "/") const {
    write("proc/self/cgroup", "7:memory:/elsewhere\n4:cpu,cpuacct:" + group + "\n0::/");
    write("proc/self/mountinfo",
          "31 22 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
          "32 22 0:28 " +
              root + " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct");
  }
  void quota_v1(const std::string& group, const std::string& quota) const {
    write("sys/fs/cgroup/cpu,cpuacct" + group + "/cpu.cfs_quota_us", quota);
    write("sys/fs/cgroup/cpu,cpuacct" + group + "/cpu.cfs_period_us", "100000");
  }
  core_count count(std::size_t machine, std::size_t affinity) const {
    return detail::count_cores(machine, affinity, folder.path);
  }

  temporary_folder folder;
};

TEST_CASE("usable cores: the smaller of the machine's and the affinity's without control groups") {
  const made_root root;
  CHECK(root.count(8, 8) == core_count{8, "the machine"});
  CHECK(root.count(8, 3) == core_count{3, "the affinity"});
  CHECK(root.count(8, 0) == core_count{8, "the machine"});
  CHECK(root.count(0, 0) == core_count{1, "the machine"});
}

TEST_CASE("usable cores: a quota of cgroup v2 limits them, and a part of a core counts as one") {
  for (const auto& [quota, cores] :
       {std::pair("150000 100000", 2), std::pair("100000 100000", 1), std::pair("20000 100000", 1),
        std::pair("300001 100000", 4), std::pair("75000 25000", 3)}) {
    INFO(quota);
    const made_root root;
    root.mount_v2("/jobs/one");
    root.write("sys/fs/cgroup/jobs/one/cpu.max", quota);
    CHECK(root.count(8, 8) ==
          core_count{static_cast<std::size_t>(cores), "the quota of cgroup v2"});
  }
}

TEST_CASE("usable cores: the smallest quota of a group and the groups above it counts") {
  const made_root root;
  root.mount_v2("/jobs/one/inner");
  root.write("sys/fs/cgroup/jobs/one/inner/cpu.max", "max 100000");
  root.write("sys/fs/cgroup/jobs/one/cpu.max", "500000 100000");
  root.write("sys/fs/cgroup/jobs/cpu.max", "200000 100000");
  root.write("sys/fs/cgroup/cpu.max", "400000 100000");
  CHECK(root.count(8, 8) == core_count{2, "the quota of cgroup v2"});
  CHECK(root.count(8, 1) == core_count{1, "the affinity"});
}

TEST_CASE("usable cores: a container whose mount begins at its own group has that group's quota") {
  const made_root whole;  // the path is the host's, and the mount begins at the group
  whole.mount_v2("/docker/abc", "/docker/abc");
  whole.write("sys/fs/cgroup/cpu.max", "300000 100000");
  CHECK(whole.count(8, 8) == core_count{3, "the quota of cgroup v2"});
  const made_root inner;  // a group that the container has made
  inner.mount_v2("/docker/abc/inner", "/docker/abc");
  inner.write("sys/fs/cgroup/cpu.max", "300000 100000");
  inner.write("sys/fs/cgroup/inner/cpu.max", "200000 100000");
  CHECK(inner.count(8, 8) == core_count{2, "the quota of cgroup v2"});
  const made_root hidden;  // the path is the host's, of which nothing is shown
  hidden.mount_v2("/docker/abc");
  hidden.write("sys/fs/cgroup/cpu.max", "100000 100000");
  CHECK(hidden.count(8, 8) == core_count{1, "the quota of cgroup v2"});
}

TEST_CASE("usable cores: a quota of cgroup v1 limits them") {
  const made_root root;
  root.mount_v1("/jobs/one");
  root.quota_v1("/jobs/one", "-1");
  root.quota_v1("/jobs", "250000");
  root.quota_v1("", "-1");
  CHECK(root.count(8, 8) == core_count{3, "the quota of cgroup v1"});
  const made_root container;
  container.mount_v1("/docker/abc", "/docker/abc");
  container.quota_v1("", "150000");
  CHECK(container.count(8, 8) == core_count{2, "the quota of cgroup v1"});
}

TEST_CASE("usable cores: a quota above the machine's cores is no limit") {
  const made_root root;
  root.mount_v2("/");
  root.write("sys/fs/cgroup/cpu.max", "3200000 100000");
  CHECK(root.count(8, 8) == core_count{8, "the machine"});
}

TEST_CASE("usable cores: files of another form are no limit") {
  for (const char* text :
       {"", "max", "100000", "-1 100000", "0 100000", "100000 0", "nan 100000", "inf 100000",
        "100000 -5", "1e9 x", "100000 100000 100000", "two cores", "1e300 1"}) {
    INFO(text);
    const made_root root;
    root.mount_v2("/jobs");
    root.write("sys/fs/cgroup/jobs/cpu.max", text);
    CHECK(root.count(8, 8) == core_count{8, "the machine"});
  }
  for (const char* groups : {"", "0", "0:", "0::jobs", "::", "cpu"}) {
    for (const char* mounts : {"", " - cgroup2", "30 22 - cgroup2 cgroup2 rw", "- - -"}) {
      INFO(groups << " | " << mounts);
      const made_root root;
      root.write("proc/self/cgroup", groups);
      root.write("proc/self/mountinfo", mounts);
      CHECK(root.count(8, 8) == core_count{8, "the machine"});
    }
  }
}

TEST_CASE("usable cores: this process has at least one, and always the same number") {
  CHECK(usable_cores() >= 1);
  CHECK(usable_cores() == usable_cores());
  CHECK(usable_cores() == usable_core_count().cores);
}

}  // namespace
}  // namespace troupe
