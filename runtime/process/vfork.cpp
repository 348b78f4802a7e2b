#include "runtime/process/vfork.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "runtime/base/descriptor.hpp"

namespace troupe::detail {

namespace {

/// The failure of the child.
struct failure {
  int error;
  char action[32];
};

// A function of its own, so that no register holds a value of the caller when vfork returns for the
// second time.
[[gnu::noinline]] pid_t start(void (*become)(const void*, exec_report), const void* plan,
                              int report) {
  const pid_t pid = vfork();
  if (pid == 0) {
    become(plan, exec_report(report));
    _exit(127);
  }
  return pid;
}

/// The arguments of a child that begins namespaces.
struct first_call {
  void (*become)(const void*, exec_report);
  const void* plan;
  int report;

  static int run(void* self) {
    const auto& is = *static_cast<const first_call*>(self);
    is.become(is.plan, exec_report(is.report));
    return 127;
  }
};

/// Like start(), with new namespaces, for which the child needs a stack of its own.
pid_t start_in(int namespaces, first_call call) {
  constexpr std::size_t stack_bytes = 256 << 10;
  void* const stack = ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return -1;
  const pid_t pid = ::clone(first_call::run, static_cast<char*>(stack) + stack_bytes,
                            CLONE_VM | CLONE_VFORK | SIGCHLD | namespaces, &call);
  const int error = errno;
  ::munmap(stack, stack_bytes);
  errno = error;
  return pid;
}

}  // namespace

void exec_report::fail(const char* action) const {
  failure what{errno, {}};
  for (std::size_t i = 0; action[i] && i + 1 < sizeof what.action; ++i) what.action[i] = action[i];
  [[maybe_unused]] const auto written = ::write(pipe_, &what, sizeof what);
  _exit(127);
}

int exec_report::need(int result, const char* action) const {
  if (result < 0) fail(action);
  return result;
}

void exec_report::move_from(int number) {
  pipe_ = need(fcntl(pipe_, F_DUPFD_CLOEXEC, number), "copy a descriptor");
}

void exec_report::move_to(int number) {
  pipe_ = need(dup3(pipe_, number, O_CLOEXEC), "copy a descriptor");
}

bool exec_report::is_awaited() const {
  pollfd pipe{pipe_, POLLOUT, 0};
  return ::poll(&pipe, 1, 0) < 0 || (pipe.revents & POLLERR) == 0;
}

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

void reset_signals() {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

pid_t start_child(void (*become)(const void* plan, exec_report report), const void* plan,
                  int namespaces) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  }
  const descriptor read_end(ends[0]);
  descriptor write_end(ends[1]);
  const int report = write_end.number();
  const pid_t pid =
      namespaces ? start_in(namespaces, {become, plan, report}) : start(become, plan, report);
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
