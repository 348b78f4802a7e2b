#include "actors/sandbox/control_group.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/base/control_group_of.hpp"
#include "runtime/base/log.hpp"

namespace troupe {

namespace {

using std::filesystem::path;

// bwrap's own processes, while the sandbox starts and until it has ended.
constexpr int processes_of_bwrap = 3;

std::string text_of(const path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Writes to a file of the kernel's, in one call. Returns 0 or the error's number.
int write_to(const path& file, const std::string& text) {
  const detail::descriptor out(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!out) return errno;
  return ::write(out.number(), text.data(), text.size()) < 0 ? errno : 0;
}

void need_write(const path& file, const std::string& text) {
  if (const int error = write_to(file, text))
    throw std::system_error(error, std::generic_category(), "cannot write " + file.string());
}

bool has_word(const std::string& text, const std::string& word) {
  std::istringstream words(text);
  for (std::string each; words >> each;)
    if (each == word) return true;
  return false;
}

/// The value of a key in a file of lines such as "oom_kill 1".
std::int64_t value_in(const path& file, const std::string& key) {
  std::istringstream lines(text_of(file));
  std::string name;
  for (std::int64_t value = 0; lines >> name >> value;)
    if (name == key) return value;
  return 0;
}

/// The group of this process; empty if there is none of v2.
path own_group() {
  const auto place = detail::control_group_of("");
  return place ? place->group : path();
}

bool is_enabled(const path& folder) {
  const auto controllers = text_of(folder / "cgroup.subtree_control");
  return has_word(controllers, "memory") && has_word(controllers, "pids");
}

/// True if systemd has marked the group as delegated, or if an ordinary user may make groups in it.
bool is_delegated(const path& folder) {
  for (const char* name : {"trusted.delegate", "user.delegate"}) {
    char value[8] = {};
    if (::getxattr(folder.c_str(), name, value, sizeof value) > 0 && value[0] == '1') return true;
  }
  return ::geteuid() != 0 && ::access(folder.c_str(), W_OK) == 0 &&
         ::access((folder / "cgroup.subtree_control").c_str(), W_OK) == 0;
}

}  // namespace

control_group::control_group(path folder, const code_limits& limits) : folder_(std::move(folder)) {
  ::rmdir(folder_.c_str());  // that of an earlier process with the same number, which was killed
  if (::mkdir(folder_.c_str(), 0755) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot make " + folder_.string());
  try {
    need_write(folder_ / "memory.max", std::to_string(limits.memory_bytes));
    write_to(folder_ / "memory.swap.max", "0");  // there may be no swap
    write_to(folder_ / "memory.oom.group", "1");
    need_write(folder_ / "pids.max", std::to_string(limits.processes + processes_of_bwrap));
    const auto file = folder_ / "cgroup.procs";
    members_ =
        detail::descriptor(::open(file.c_str(), O_WRONLY | O_CLOEXEC), "open a control group");
  } catch (...) {
    ::rmdir(folder_.c_str());
    throw;
  }
}

control_group::control_group(control_group&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), members_(std::move(other.members_)) {}

control_group::~control_group() { end(); }

control_group::usage control_group::end() {
  usage used;
  if (folder_.empty()) return used;
  const auto folder = std::exchange(folder_, {});
  members_ = detail::descriptor();
  std::istringstream(text_of(folder / "memory.peak")) >> used.memory_bytes;
  if (value_in(folder / "memory.events", "oom_kill") > 0) used.limit = code_limit::memory;
  if (used.limit == code_limit::none && value_in(folder / "pids.events", "max") > 0)
    used.limit = code_limit::processes;
  write_to(folder / "cgroup.kill", "1");
  if (::rmdir(folder.c_str()) != 0)
    log::warn("a control group could not be removed",
              {{"folder", folder.string()}, {"error", std::generic_category().message(errno)}});
  return used;
}

std::optional<control_groups> control_groups::find(std::string& why) {
  // Every service of the process uses the same folder, and the first to look moves the process.
  static std::mutex mutex;
  static path found;
  const std::lock_guard lock(mutex);
  if (!found.empty()) {
    why = found.string();
    return control_groups(found);
  }
  const auto own = own_group();
  if (own.empty()) {
    why = "cgroup v2 is not mounted";
    return std::nullopt;
  }
  const auto controllers = text_of(own / "cgroup.controllers");
  if (!has_word(controllers, "memory") || !has_word(controllers, "pids")) {
    why = own.string() + " does not have the controllers memory and pids";
    return std::nullopt;
  }
  if (!is_enabled(own)) {
    if (!is_delegated(own)) {
      why = own.string() + " is not delegated to this process: systemd-run --scope -p Delegate=yes";
      return std::nullopt;
    }
    // Only a group without members can have controlled groups below it.
    const auto mine = own / ("troupe-" + std::to_string(::getpid()));
    ::mkdir(mine.c_str(), 0755);
    int error = write_to(mine / "cgroup.procs", "0");
    if (!error) error = write_to(own / "cgroup.subtree_control", "+memory +pids");
    if (error) {
      write_to(own / "cgroup.procs", "0");
      ::rmdir(mine.c_str());
      why = own.string() + ": " + std::generic_category().message(error);
      return std::nullopt;
    }
  } else if (::access(own.c_str(), W_OK) != 0) {
    why = own.string() + " can't be written to";
    return std::nullopt;
  }
  found = own;
  why = found.string();
  return control_groups(found);
}

control_group control_groups::make(const code_limits& limits) const {
  static std::atomic<std::int64_t> made = 0;  // by all services of this process
  return control_group(
      folder_ / ("troupe-run-" + std::to_string(::getpid()) + "-" + std::to_string(++made)),
      limits);
}

}  // namespace troupe
