#include "actors/coder/limited_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "actors/sandbox/program_user.hpp"
#include "runtime/base/descriptor.hpp"
#include "runtime/process/pidfd.hpp"
#include "runtime/process/vfork.hpp"

namespace troupe {

namespace {

using detail::descriptor;
using detail::exec_report;

constexpr int reported_number = 3;
constexpr int program_number = limited_program::program_number;
constexpr int report_number = program_number + 1;  // exec_report's descriptor until exec
constexpr int numbers_above = 16;  // descriptors are first moved above this, to avoid collisions

/// The data of the child, which is prepared before vfork.
struct plan {
  const char* const* arguments;
  const char* folder;
  pid_t parent;
  int program, input, output, errors, reported;
  code_limits limits;
  uid_t user;  // 0 means this process's user
  std::int64_t processes;
};

void limit(const exec_report& report, __rlimit_resource which, rlim_t soft, rlim_t hard) {
  rlimit now{};
  report.need(getrlimit(which, &now), "read a limit");
  const rlimit wanted{std::min(soft, now.rlim_max), std::min(hard, now.rlim_max)};
  report.need(setrlimit(which, &wanted), "set a limit");
}

void become_program(const void* planned, exec_report report) {
  const auto& is = *static_cast<const plan*>(planned);
  // The first process of a session can't join another process group.
  report.need(setsid(), "begin a session");
  report.move_from(numbers_above);
  const auto copy = [&](int number) {
    return report.need(fcntl(number, F_DUPFD_CLOEXEC, numbers_above), "copy a descriptor");
  };
  const int program = copy(is.program), input = copy(is.input);
  const int output = copy(is.output), errors = copy(is.errors);
  const int reported = copy(is.reported);
  report.need(dup2(input, STDIN_FILENO), "give it an input");
  report.need(dup2(output, STDOUT_FILENO), "give it an output");
  report.need(dup2(errors, STDERR_FILENO), "give it an output");
  report.need(dup2(reported, reported_number), "give it an output");
  report.need(dup2(program, program_number), "give it its program");
  report.move_to(report_number);
  report.need(close_range(report_number + 1, ~0u, 0), "close the other descriptors");
  report.need(chdir(is.folder), "go to its folder");

  const auto& l = is.limits;
  const auto cpu = static_cast<rlim_t>(l.cpu_s);
  const auto same = [&](__rlimit_resource which, std::int64_t value) {
    limit(report, which, static_cast<rlim_t>(value), static_cast<rlim_t>(value));
  };
  limit(report, RLIMIT_CPU, cpu, cpu + 1);
  same(RLIMIT_AS, l.memory_bytes);
  same(RLIMIT_FSIZE, l.written_bytes);
  same(RLIMIT_NOFILE, l.open_files);
  same(RLIMIT_CORE, 0);
  if (is.user != 0) become_user(report, is.user);
  // The limit is set after the change of user, since a process that becomes a user with too many
  // processes can't execute anything.
  same(RLIMIT_NPROC, is.processes);
  report.need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "give up new privileges");
  // This comes after the change of user, which resets it.
  report.need(prctl(PR_SET_PDEATHSIG, SIGKILL), "ask to die with its parent");
  if (getppid() != is.parent) _exit(127);  // the parent has died before

  detail::reset_signals();
  const char* const environment[] = {nullptr};
  execve(is.arguments[0], const_cast<char**>(is.arguments), const_cast<char**>(environment));
  report.fail("execute the interpreter");
}

/// A process group. It is killed and its first process reaped by the destructor at the latest.
class process_group {
 public:
  explicit process_group(pid_t pid) : pid_(pid), handle_(pidfd_open(pid, 0)) {
    if (handle_) return;
    const int error = errno;
    reap();
    throw std::system_error(error, std::generic_category(), "cannot watch a program");
  }
  ~process_group() {
    if (pid_ > 0) reap();
  }
  process_group(const process_group&) = delete;

  /// A descriptor that becomes readable when the first process has ended.
  int handle() const { return handle_.number(); }

  struct end {
    int status;
    double cpu_s;
    std::int64_t memory_bytes;
  };
  /// Kills the group and reaps its first process. The group's number can't be reused before that
  /// process is reaped.
  end reap() {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // in any group, or the wait would not end
    end seen{};
    rusage used{};
    while (::wait4(pid_, &seen.status, 0, &used) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    const auto seconds = [](const timeval& t) {
      return double(t.tv_sec) + 1e-6 * double(t.tv_usec);
    };
    seen.cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
    seen.memory_bytes = std::int64_t{used.ru_maxrss} << 10;
    return seen;
  }

 private:
  pid_t pid_;
  descriptor handle_;
};

/// A pipe from which a program's output is read up to a limit.
class capped_pipe {
 public:
  explicit capped_pipe(std::int64_t bytes_max) : bytes_max_(static_cast<std::size_t>(bytes_max)) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
    read_ = descriptor(ends[0]);
    write_ = descriptor(ends[1]);
    ::fcntl(read_.number(), F_SETFL, O_NONBLOCK);
  }

  int write_end() const { return write_.number(); }
  void close_write_end() { write_ = descriptor(); }
  /// The descriptor for poll(), or -1 if nothing more can come.
  int read_end() const { return read_.number(); }

  /// Reads the bytes that are available.
  void read() {
    std::array<char, 8192> block;
    while (read_ && !full()) {
      const auto bytes = ::read(read_.number(), block.data(), block.size());
      if (bytes < 0) {
        if (errno == EINTR) continue;
        return;
      }
      if (bytes == 0) {
        read_ = descriptor();
        return;
      }
      text_.append(block.data(), static_cast<std::size_t>(bytes));
    }
  }
  bool full() const { return text_.size() > bytes_max_; }
  std::string take() {
    if (full()) text_.resize(bytes_max_);
    return std::move(text_);
  }

 private:
  std::size_t bytes_max_;
  descriptor read_, write_;
  std::string text_;
};

using clock = std::chrono::steady_clock;

/// Waits until the program has ended, has written too much or its time is over. Returns the limit,
/// or none for any end of the program.
code_limit wait(const process_group& running, capped_pipe& output, capped_pipe& errors,
                capped_pipe& reported, clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
    if (left.count() <= 0) return code_limit::wall_time;
    pollfd on[] = {{running.handle(), POLLIN, 0},
                   {output.read_end(), POLLIN, 0},
                   {errors.read_end(), POLLIN, 0},
                   {reported.read_end(), POLLIN, 0}};
    const auto wait_ms = std::min<std::int64_t>(left.count(), 60'000);
    if (::poll(on, std::size(on), static_cast<int>(wait_ms)) < 0 && errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "cannot wait for a program");
    for (auto* each : {&output, &errors, &reported}) each->read();
    if (output.full() || errors.full() || reported.full()) return code_limit::output_bytes;
    if (on[0].revents != 0) return code_limit::none;
  }
}

/// The value of RLIMIT_NPROC, which counts all processes of a user. If the user is not the
/// program's own, 0 is the only value that doesn't depend on other processes.
std::int64_t processes_of(const limited_program& what) {
  if (!what.user) return 0;
  return what.limits.processes + static_cast<std::int64_t>(what.user->end_processes());
}

}  // namespace

code_result run_limited(const limited_program& what) {
  const auto bytes = what.limits.output_bytes;
  capped_pipe output(bytes), errors(bytes), reported(bytes);
  std::vector<const char*> arguments;
  for (const auto& word : what.command) arguments.push_back(word.c_str());
  arguments.push_back(nullptr);
  const plan is{.arguments = arguments.data(),
                .folder = what.folder.c_str(),
                .parent = getpid(),
                .program = what.program,
                .input = what.input,
                .output = output.write_end(),
                .errors = errors.write_end(),
                .reported = reported.write_end(),
                .limits = what.limits,
                .user = what.user ? what.user->number() : 0,
                .processes = processes_of(what)};
  const auto began = clock::now();
  const auto deadline = began + std::chrono::duration_cast<clock::duration>(
                                    std::chrono::duration<double>(what.limits.wall_s));

  std::optional<parent_of_orphans> reaps;  // until the user's processes have ended
  if (what.user) reaps.emplace();
  process_group running(start_as_user(become_program, &is));
  for (auto* each : {&output, &errors, &reported}) each->close_write_end();

  code_result result;
  result.limit = wait(running, output, errors, reported, deadline);
  const auto end = running.reap();
  if (what.user) what.user->end_processes();
  for (auto* each : {&output, &errors, &reported}) each->read();
  result.truncated = output.full() || errors.full() || reported.full();
  if (result.truncated && result.limit == code_limit::none) result.limit = code_limit::output_bytes;
  result.output = output.take();
  result.errors = errors.take();
  result.reported = reported.take();
  result.wall_s = std::chrono::duration<double>(clock::now() - began).count();
  result.cpu_s = end.cpu_s;
  result.memory_bytes = end.memory_bytes;
  if (WIFEXITED(end.status)) result.exit_code = WEXITSTATUS(end.status);
  if (WIFSIGNALED(end.status)) result.signal = WTERMSIG(end.status);
  if (result.limit == code_limit::none && is_end_of_cpu_time(result, what.limits))
    result.limit = code_limit::cpu_time;
  return result;
}

}  // namespace troupe
