#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "actors/sandbox/program_user.hpp"
#include "actors/sandbox/sandbox.hpp"
#include "actors/sandbox/sandbox_numbers.hpp"
#include "actors/sandbox/syscall_filter.hpp"
#include "runtime/base/installed.hpp"
#include "runtime/base/usable_cores.hpp"

namespace troupe {

namespace {

// What an interpreter needs to start.
constexpr std::int64_t process_bytes_min = std::int64_t{64} << 20;
constexpr const char* user_inside = "65534";

/// The address space of each process. A control group limits the memory of all of them, and a
/// process may then have it all.
std::int64_t address_space(const code_limits& l, bool in_a_group = false) {
  if (in_a_group) return l.memory_bytes;
  return (l.memory_bytes - l.written_bytes) / l.processes;
}

void check(const sandbox_options& options) {
  const auto& l = options.limits;
  constexpr double wall_s_max = 1e6;
  if (!(l.wall_s > 0) || !(l.wall_s <= wall_s_max) || l.cpu_s < 1 || l.processes < 1 ||
      l.open_files < 16 || l.written_bytes < 4096 || l.files < 16 || l.output_bytes < 1)
    throw std::invalid_argument(fmt::format(
        "sandbox: expected limits above 0, wall_s up to 1000000, and at least 16 open files, 16 "
        "files and 4096 written "
        "bytes, got wall_s {}, cpu_s {}, processes {}, open_files {}, written_bytes {}, files {}, "
        "output_bytes {}",
        l.wall_s, l.cpu_s, l.processes, l.open_files, l.written_bytes, l.files, l.output_bytes));
  if (address_space(l) < process_bytes_min)
    throw std::invalid_argument(
        fmt::format("sandbox: expected memory_bytes of at least {} for each of {} processes and {} "
                    "written_bytes, got {}",
                    process_bytes_min, l.processes, l.written_bytes, l.memory_bytes));
  if (options.parallel < 0 || options.warm < -1)
    throw std::invalid_argument(
        fmt::format("sandbox: expected parallel >= 0 and warm >= -1, got "
                    "{} and {}",
                    options.parallel, options.warm));
}

/// A limit that is not above the one that this process has itself.
std::int64_t at_most_ours(__rlimit_resource which, std::int64_t wanted) {
  rlimit ours{};
  if (::getrlimit(which, &ours) != 0 || ours.rlim_max == RLIM_INFINITY) return wanted;
  return std::min<std::int64_t>(wanted, static_cast<std::int64_t>(ours.rlim_max));
}

/// The command that gives a program its limits. RLIMIT_NPROC counts the processes of the sandbox's
/// own user namespace.
std::vector<std::string> limit_words(const code_limits& l, bool in_a_group) {
  const auto word = [](const char* name, __rlimit_resource which, std::int64_t wanted) {
    return fmt::format("--{}={}", name, at_most_ours(which, wanted));
  };
  return {"/usr/bin/prlimit",
          word("as", RLIMIT_AS, address_space(l, in_a_group)),
          word("cpu", RLIMIT_CPU, l.cpu_s),
          word("nproc", RLIMIT_NPROC, l.processes),
          word("nofile", RLIMIT_NOFILE, l.open_files),
          word("fsize", RLIMIT_FSIZE, l.written_bytes),
          word("memlock", RLIMIT_MEMLOCK, 64 << 10),
          word("msgqueue", RLIMIT_MSGQUEUE, 0),
          word("sigpending", RLIMIT_SIGPENDING, 64)};
}

std::vector<std::string> bubblewrap_words(const std::string& program,
                                          const sandbox_options& options, bool waits) {
  std::vector<std::string> words = {program,
                                    "--unshare-all",
                                    "--unshare-user",
                                    "--disable-userns",
                                    "--die-with-parent",
                                    "--new-session",
                                    "--as-pid-1",
                                    "--cap-drop",
                                    "ALL",
                                    "--uid",
                                    user_inside,
                                    "--gid",
                                    user_inside,
                                    "--hostname",
                                    "sandbox",
                                    "--clearenv",
                                    "--setenv",
                                    "PATH",
                                    "/usr/bin:/bin",
                                    "--setenv",
                                    "HOME",
                                    "/tmp",
                                    "--setenv",
                                    "LANG",
                                    "C.UTF-8"};
  const auto add = [&](std::initializer_list<std::string> more) {
    words.insert(words.end(), more);
  };
  for (const auto& path : options.readable) {
    const auto is_hidden = [&](const std::string& by) {
      return path == by || path.starts_with(by + "/");
    };
    if (!path.starts_with('/') || !std::filesystem::exists(path) || is_hidden("/tmp") ||
        is_hidden("/proc") || is_hidden("/dev"))
      throw std::invalid_argument(
          "sandbox: readable: expected the path of a file or folder, from / on, that is not below "
          "/tmp, /proc or /dev, which a program has of its own; got " +
          path);
    add({"--ro-bind", path, path});
  }
  // Where /bin and the like are links into /usr, they are the same links in the sandbox.
  for (const auto* path : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::error_code ignored;
    if (std::filesystem::is_symlink(path, ignored))
      add({"--symlink", std::filesystem::read_symlink(path).string(), path});
    else if (std::filesystem::is_directory(path, ignored))
      add({"--ro-bind", path, path});
  }
  add({"--ro-bind-try", "/etc/alternatives", "/etc/alternatives", "--ro-bind-try",
       "/etc/ld.so.cache", "/etc/ld.so.cache"});
  const std::string space = sandbox_numbers::space;
  add({"--proc", "/proc", "--dev", "/dev", "--bind", space + "/shm", "/dev/shm", "--bind",
       space + "/tmp", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"});
  add({"--seccomp", std::to_string(sandbox_numbers::filter), "--json-status-fd",
       std::to_string(sandbox_numbers::status)});
  if (waits) add({"--block-fd", std::to_string(sandbox_numbers::go)});
  return words;
}

}  // namespace

std::int64_t sandbox_memory_min(int processes) {
  return processes * process_bytes_min + code_limits{}.written_bytes;
}

sandbox_maker::sandbox_maker(sandbox_options options, std::vector<std::string> command)
    : options_(std::move(options)), own_command_(std::move(command)) {
  check(options_);
  const auto program = detail::find_program("bwrap").string();
  if (program.empty())
    throw sandbox_unavailable(
        "sandbox: bubblewrap is not installed: apt-get install bubblewrap, version 0.8 or later");
  if (::geteuid() == 0)
    user_ = std::make_unique<program_user>(options_.first_user, options_.last_user);
  words_ = bubblewrap_words(program, options_, own_command_.empty());
  words_.push_back("--");
  std::string ignored;
  groups_ = control_groups::find(ignored);
  const auto limits = limit_words(options_.limits, groups_.has_value());
  words_.insert(words_.end(), limits.begin(), limits.end());
  const auto user = user_ ? user_->number() : ::geteuid();
  const auto group = user_ ? user_->number() : ::getegid();
  // The mount itself, and the folders for /tmp and /dev/shm, are files, too.
  space_options_ = fmt::format("mode=0700,size={},nr_inodes={}", options_.limits.written_bytes,
                               options_.limits.files + 3);
  uid_map_ = fmt::format("{} {} 1", user, user);
  gid_map_ = fmt::format("{} {} 1", group, group);
  filter_ = detail::make_syscall_filter();
}

sandbox_maker::~sandbox_maker() = default;

std::size_t runs_at_once(const sandbox_options& options) {
  if (options.parallel > 0) return static_cast<std::size_t>(options.parallel);
  return usable_cores();
}

}  // namespace troupe
