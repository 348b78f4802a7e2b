#include "actors/sandbox/sandbox_start.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "actors/sandbox/program_user.hpp"

namespace troupe {

namespace {

using detail::exec_report;

constexpr int report_number = sandbox_numbers::count;  // exec_report's descriptor until exec
constexpr int numbers_above = 32;  // descriptors are first moved above this, to avoid collisions

/// The data of the child, which is prepared before it starts.
struct plan {
  const sandbox_process& what;
  const char* const* arguments;
  const char *tmp, *shm;
};

void write_file(const exec_report& report, const char* path, const char* text) {
  const int file = report.need(::open(path, O_WRONLY | O_CLOEXEC), "open its user map");
  report.need(static_cast<int>(::write(file, text, ::strlen(text))), "write its user map");
  ::close(file);
}

/// Mounts the space for the run's files. It lies in memory and vanishes with the namespace.
void mount_space(const exec_report& report, const plan& is) {
  const char* const at = sandbox_numbers::space;
  report.need(::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr), "keep its mounts");
  // bwrap looks for its child there, by its number in its own namespace.
  report.need(::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr),
              "mount /proc");
  report.need(::mount("troupe", at, "tmpfs", MS_NOSUID | MS_NODEV, is.what.space_options),
              "mount its space for files");
  for (const char* const folder : {is.tmp, is.shm})
    report.need(::mkdir(folder, 0700), "make its folders");
  if (is.what.user == 0) return;
  for (const char* const path : {at, is.tmp, is.shm})
    report.need(::chown(path, is.what.user, is.what.user), "give it its folders");
}

void become_sandbox(const void* planned, exec_report report) {
  const auto& is = *static_cast<const plan*>(planned);
  report.need(::setsid(), "begin a session");
  detail::volunteer_for_oom();
  // 0 would still start a program of the machine's that takes core files, and is all that a process
  // may have whose own limit is 0.
  rlimit core{};
  report.need(::getrlimit(RLIMIT_CORE, &core), "read its limit on core files");
  core.rlim_cur = core.rlim_max = std::min<rlim_t>(1, core.rlim_max);
  report.need(::setrlimit(RLIMIT_CORE, &core), "forbid core files");
  if (is.what.group >= 0)
    report.need(static_cast<int>(::write(is.what.group, "0", 1)), "enter its control group");
  report.move_from(numbers_above);
  std::array<int, sandbox_numbers::count> copies;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const int number = is.what.descriptors[i];
    copies[i] = number < 0 ? -1
                           : report.need(fcntl(number, F_DUPFD_CLOEXEC, numbers_above),
                                         "copy a descriptor");
  }
  for (int i = 0; i < sandbox_numbers::count; ++i) {
    if (copies[i] >= 0)
      report.need(::dup2(copies[i], i), "give it a descriptor");
    else
      ::close(i);
  }
  report.move_to(report_number);
  report.need(close_range(report_number + 1, ~0u, 0), "close the other descriptors");
  if (is.what.user == 0) {
    write_file(report, "/proc/self/uid_map", is.what.uid_map);
    write_file(report, "/proc/self/setgroups", "deny");
    write_file(report, "/proc/self/gid_map", is.what.gid_map);
  }
  mount_space(report, is);
  if (is.what.user != 0) become_user(report, is.what.user);
  // bwrap asks for the same, later.
  report.need(::prctl(PR_SET_PDEATHSIG, SIGKILL), "ask to die with its parent");
  if (!report.is_awaited()) ::_exit(127);  // The parent has died already.
  detail::reset_signals();
  const char* const no_environment[] = {nullptr};
  ::execve(is.arguments[0], const_cast<char* const*>(is.arguments),
           const_cast<char* const*>(no_environment));
  report.fail("execute bwrap");
}

}  // namespace

pid_t start_sandbox(const sandbox_process& what) {
  std::vector<const char*> arguments;
  for (const auto* words : {what.words, what.command})
    for (const auto& word : *words) arguments.push_back(word.c_str());
  arguments.push_back(nullptr);
  const auto tmp = std::string(sandbox_numbers::space) + "/tmp";
  const auto shm = std::string(sandbox_numbers::space) + "/shm";
  const plan is{what, arguments.data(), tmp.c_str(), shm.c_str()};
  // Root needs no user namespace to mount, and bwrap makes one as the user that it has become.
  // bwrap is the first process of a process namespace, because the program can outlive it
  // otherwise: the kernel forgets that a process is to die with its parent if a thread of it
  // executes another program.
  const int namespaces = CLONE_NEWNS | CLONE_NEWPID | (what.user == 0 ? CLONE_NEWUSER : 0);
  return start_as_user(become_sandbox, &is, namespaces);
}

}  // namespace troupe
