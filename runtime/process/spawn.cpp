#include "runtime/process/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <string_view>

namespace troupe::detail {

namespace {

/// All that the child needs, made before: between vfork and exec it allocates nothing.
struct plan {
  std::vector<const char*> arguments, environment;
  pid_t parent;
  int null, socket, memory, report;
  rlim_t memory_limit;
  int nice;
};

/// What has failed in the child.
struct failure {
  int error;
  char action[32];
};

constexpr int last_inherited = inherited_memory;
constexpr int report_number = last_inherited + 1;
constexpr int numbers_above = 16;  // where those to be moved are out of each other's way

[[noreturn]] void report_failure(int report, const char* action) {
  failure what{errno, {}};
  for (std::size_t i = 0; action[i] && i + 1 < sizeof what.action; ++i) what.action[i] = action[i];
  [[maybe_unused]] const auto written = ::write(report, &what, sizeof what);
  _exit(127);
}

/// When memory is short a child is to go before its parent.
void volunteer_for_oom() {
  const int file = ::open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  char before[16]{};
  const auto length = ::read(file, before, sizeof before - 1);
  int score = 0;
  for (int i = 0; i < length && before[i] >= '0' && before[i] <= '9'; ++i) {
    score = score * 10 + (before[i] - '0');
  }
  if (score < 500) [[maybe_unused]]
    const auto written = ::write(file, "500", 3);
  ::close(file);
}

/// In the child, whose memory may be the parent's until exec: async-signal-safe calls alone.
[[noreturn]] void become_child(const plan& is) {
  int report = is.report;
  const auto need = [&report](int result, const char* action) {
    if (result < 0) report_failure(report, action);
    return result;
  };
  need(prctl(PR_SET_PDEATHSIG, SIGKILL), "ask to die with its parent");
  if (getppid() != is.parent) _exit(127);  // It has died before.
  // Ctrl-C, and `timeout`, mean the parent: it says what becomes of its children.
  need(setpgid(0, 0), "leave the process group");

  report = need(fcntl(report, F_DUPFD_CLOEXEC, numbers_above), "copy a descriptor");
  const int socket = need(fcntl(is.socket, F_DUPFD_CLOEXEC, numbers_above), "copy a descriptor");
  const int memory = need(fcntl(is.memory, F_DUPFD_CLOEXEC, numbers_above), "copy a descriptor");
  need(dup2(is.null, STDIN_FILENO), "give it a standard input");
  need(dup2(socket, inherited_socket), "give it the socket");
  need(dup2(memory, inherited_memory), "give it the shared memory");
  report = need(dup3(report, report_number, O_CLOEXEC), "copy a descriptor");
  need(close_range(report_number + 1, ~0u, 0), "close the other descriptors");

  if (is.memory_limit > 0) {
    const rlimit limit{is.memory_limit, is.memory_limit};
    need(setrlimit(RLIMIT_DATA, &limit), "limit its memory");
  }
  if (is.nice > 0) {
    need(setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + is.nice),
         "lower its priority");
  }
  volunteer_for_oom();

  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve("/proc/self/exe", const_cast<char**>(is.arguments.data()),
         const_cast<char**>(is.environment.data()));
  report_failure(report, "execute the program again");
}

// Apart, so that nothing of the caller's is in registers when vfork returns for the second time.
[[gnu::noinline]] pid_t start(const plan& is) {
  const pid_t pid = vfork();
  if (pid == 0) become_child(is);
  return pid;
}

}  // namespace

pid_t spawn_self(const child_options& options, const descriptor& socket, const descriptor& memory) {
  plan is{};
  is.arguments.push_back(program_invocation_name);
  for (const auto& argument : options.arguments) is.arguments.push_back(argument.c_str());
  is.arguments.push_back(nullptr);
  auto own = options.environment;
  own.push_back(std::string(child_variable) + "=" + std::to_string(inherited_socket) + "," +
                std::to_string(inherited_memory));
  const auto name_of = [](std::string_view variable) {
    return variable.substr(0, variable.find('='));
  };
  for (char** at = environ; *at; ++at) {
    const auto replaced = [&](const std::string& by) { return name_of(by) == name_of(*at); };
    if (std::ranges::none_of(own, replaced)) is.environment.push_back(*at);
  }
  for (const auto& variable : own) is.environment.push_back(variable.c_str());
  is.environment.push_back(nullptr);

  const descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC), "open /dev/null");
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  }
  const descriptor read_end(ends[0]);
  descriptor write_end(ends[1]);
  is.parent = getpid();
  is.null = null.number();
  is.socket = socket.number();
  is.memory = memory.number();
  is.report = write_end.number();
  is.memory_limit = options.memory_limit;
  is.nice = options.nice;

  const pid_t pid = start(is);
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "cannot start a child");
  write_end = descriptor();
  failure what{};
  ssize_t got;
  while ((got = ::read(read_end.number(), &what, sizeof what)) < 0 && errno == EINTR) {
  }
  if (got == 0) return pid;  // exec has closed the pipe.
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  throw std::system_error(what.error, std::generic_category(),
                          "cannot start a child: it could not " + std::string(what.action));
}

}  // namespace troupe::detail
