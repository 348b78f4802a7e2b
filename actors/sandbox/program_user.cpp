#include "actors/sandbox/program_user.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <pwd.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "runtime/base/log.hpp"

namespace troupe {

namespace {

using detail::descriptor;
using detail::exec_report;
using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto to_end_within = 10s;
constexpr auto to_end_at_last_within = 3s;  // the end of a system has 10 s in all
constexpr auto to_be_reaped_within = 100ms;

[[noreturn]] void fail(const std::string& action) {
  throw std::system_error(errno, std::generic_category(), "coder: cannot " + action);
}

descriptor open_root_only(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) fail("make the folder " + folder);
  descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat is{};
  if (!opened || ::fstat(opened.number(), &is) != 0) fail("open the folder " + folder);
  const auto mode = is.st_mode & 07777;
  if (is.st_uid == ::geteuid() && (mode & 077) == 0) return opened;
  char octal[8] = {};
  std::to_chars(octal, octal + sizeof octal - 1, mode, 8);
  throw std::runtime_error("coder: expected the folder " + folder + " to be of user " +
                           std::to_string(::geteuid()) + " with mode 700, got user " +
                           std::to_string(is.st_uid) + " with mode " + octal);
}

/// The lock on a user number; none if another process, or another coder of this one, holds it.
descriptor lock_of(uid_t user, const descriptor& folder) {
  const auto name = std::to_string(user);
  descriptor file(
      ::openat(folder.number(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) fail("make the lock of user " + name);
  if (::flock(file.number(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK) fail("lock user " + name);
  return {};
}

/// True if the number belongs to another user, whose processes must not be killed.
bool is_known(uid_t user) {
  const auto of_systemd = "/run/systemd/dynamic-uid/" + std::to_string(user);
  if (::access(of_systemd.c_str(), F_OK) == 0) return true;
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> texts;
  const int error = ::getpwuid_r(user, &entry, texts.data(), texts.size(), &found);
  return found != nullptr || error == ERANGE;
}

// These are plain system calls, since the C library's functions would change the user of the
// parent's other threads, too.
void change_user(const exec_report& report, uid_t real, uid_t effective) {
  report.need(static_cast<int>(syscall(SYS_setgroups, 0, nullptr)), "leave its groups");
  report.need(static_cast<int>(syscall(SYS_setresgid, real, real, real)), "change its group");
  report.need(static_cast<int>(syscall(SYS_setresuid, real, effective, real)), "change its user");
  // Capabilities are lost with root's number, unless the process has other securebits.
  __user_cap_header_struct version{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  report.need(static_cast<int>(syscall(SYS_capset, &version, none)), "give up its capabilities");
}

/// Kills all processes of the user, in a child. They get the signal at once, so that none can start
/// another in time. The child has the user as its effective user only, which lets it send the
/// signal. The user's processes can't kill or stop the child, since that takes the number of its
/// real user.
void kill_all_of(const void* user, exec_report report) {
  const auto victim = *static_cast<const uid_t*>(user);
  change_user(report, victim + 1, victim);
  ::kill(-1, SIGKILL);
  _exit(0);
}

void kill_processes(uid_t user) {
  const pid_t pid = start_as_user(kill_all_of, &user);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// True if the process table has any process of the user.
bool has_processes(uid_t user) {
  errno = 0;
  const bool is_none = ::getpriority(PRIO_USER, user) == -1 && errno == ESRCH;
  return !is_none;
}

struct process {
  pid_t number = 0, parent = 0;
  bool has_ended = false;
};

/// The processes of a user according to /proc. It takes longer than has_processes().
std::vector<process> processes_of(uid_t user) {
  std::vector<process> found;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at("/proc", ignored), end; at != end;
       at.increment(ignored)) {
    const auto name = at->path().filename().string();
    process one;
    if (std::from_chars(name.data(), name.data() + name.size(), one.number).ptr == name.data())
      continue;
    std::ifstream status(at->path() / "status");
    uid_t real = 0;
    for (std::string key; status >> key; std::getline(status, key)) {
      char state = 0;
      if (key == "State:" && status >> state) one.has_ended = state == 'Z' || state == 'X';
      if (key == "PPid:") status >> one.parent;
      if (key == "Uid:") {
        status >> real;
        break;
      }
    }
    if (real == user) found.push_back(one);
  }
  return found;
}

}  // namespace

program_user::program_user(uid_t first, uid_t last, const std::string& folder) {
  const auto locks = open_root_only(folder);
  for (std::uint64_t even = (std::uint64_t{first} + 1) / 2 * 2; even < last; even += 2) {
    const auto candidate = static_cast<uid_t>(even);
    lock_ = lock_of(candidate, locks);
    if (!lock_ || is_known(candidate) || is_known(candidate + 1)) continue;
    number_ = candidate;
    try {
      end_processes();
      return;
    } catch (const std::exception&
                 e) {  // A process may hang in the kernel. Other user numbers are free.
      log::warn("a user number is skipped, because its processes could not be ended",
                {{"error", e.what()}});
    }
  }
  throw std::runtime_error("coder: expected a user from " + std::to_string(first) + " to " +
                           std::to_string(last) + " that no coder has in " + folder +
                           ", and none that the machine knows; got none");
}

program_user::~program_user() {
  try {
    end_processes_within(to_end_at_last_within);
  } catch (const std::exception& e) {
    log::warn("a program's processes could not be ended", {{"error", e.what()}});
  }
}

std::size_t program_user::end_processes() { return end_processes_within(to_end_within); }

std::size_t program_user::end_processes_within(std::chrono::seconds limit) {
  const auto began = clock::now();
  for (auto pause = 1ms;; pause = std::min(2 * pause, 50ms)) {
    if (!has_processes(number_)) return never_reaped_ = 0;
    kill_processes(number_);
    auto left = processes_of(number_);
    // Orphaned processes have this one as their parent: see parent_of_orphans.
    std::erase_if(left, [](const process& one) {
      return one.has_ended && one.parent == ::getpid() &&
             ::waitpid(one.number, nullptr, WNOHANG) == one.number;
    });
    const auto waited = clock::now() - began;
    const bool have_ended = std::ranges::all_of(left, &process::has_ended);
    if (have_ended && (left.size() <= never_reaped_ || waited > to_be_reaped_within))
      return never_reaped_ = left.size();
    if (waited > limit)
      throw std::runtime_error(
          "coder: expected all processes of user " + std::to_string(number_) + " to end within " +
          std::to_string(limit.count()) + " s of being killed, got " + std::to_string(left.size()) +
          " that are left, the first of them " + std::to_string(left.front().number));
    std::this_thread::sleep_for(pause);
  }
}

namespace {

std::mutex orphans_mutex;
int parents_of_orphans = 0;
int subreaper_before = 0;

}  // namespace

parent_of_orphans::parent_of_orphans() {
  const std::lock_guard lock(orphans_mutex);
  if (parents_of_orphans++ > 0) return;
  prctl(PR_GET_CHILD_SUBREAPER, &subreaper_before);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

parent_of_orphans::~parent_of_orphans() {
  const std::lock_guard lock(orphans_mutex);
  if (--parents_of_orphans == 0) prctl(PR_SET_CHILD_SUBREAPER, subreaper_before);
}

void become_user(const exec_report& report, uid_t user) { change_user(report, user, user); }

pid_t start_as_user(void (*become)(const void* plan, exec_report report), const void* plan,
                    int namespaces) {
  static const int before = prctl(PR_GET_DUMPABLE);  // the value before the first child
  struct set_back {
    ~set_back() { prctl(PR_SET_DUMPABLE, before); }
  } const at_the_end;
  return detail::start_child(become, plan, namespaces);
}

}  // namespace troupe
