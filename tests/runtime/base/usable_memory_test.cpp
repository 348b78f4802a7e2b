#include "runtime/base/usable_memory.hpp"

#include <fstream>
#include <string>

#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text << '\n';
}

TEST_CASE("usable memory: the smallest of the machine's and the limits of cgroup v2") {
  const temporary_folder root;
  CHECK(detail::limit_memory(8000, root.path) == 8000);
  write(root.path / "proc/self/cgroup", "0::/jobs/one");
  write(root.path / "proc/self/mountinfo",
        "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw");
  write(root.path / "sys/fs/cgroup/jobs/one/memory.max", "max");
  CHECK(detail::limit_memory(8000, root.path) == 8000);
  write(root.path / "sys/fs/cgroup/jobs/memory.max", "5000");
  write(root.path / "sys/fs/cgroup/memory.max", "6000");
  CHECK(detail::limit_memory(8000, root.path) == 5000);
  CHECK(detail::limit_memory(3000, root.path) == 3000);
}

TEST_CASE("usable memory: a limit of cgroup v1 counts, and one that is none does not") {
  const temporary_folder root;
  write(root.path / "proc/self/cgroup", "7:memory:/one\n0::/");
  write(root.path / "proc/self/mountinfo",
        "31 22 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory");
  write(root.path / "sys/fs/cgroup/memory/one/memory.limit_in_bytes", "4096");
  CHECK(detail::limit_memory(8000, root.path) == 4096);
  write(root.path / "sys/fs/cgroup/memory/one/memory.limit_in_bytes", "9223372036854771712");
  CHECK(detail::limit_memory(8000, root.path) == 8000);
}

TEST_CASE("usable memory: this process may use some") { CHECK(usable_memory() > (1 << 20)); }

}  // namespace
}  // namespace troupe
