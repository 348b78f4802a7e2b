#include "runtime/process/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <string_view>

#include "runtime/process/vfork.hpp"

namespace troupe::detail {

namespace {

/// Everything that the child needs, made before it starts.
struct plan {
  std::vector<const char*> arguments, environment;
  pid_t parent;
  const char* program;
  int null, socket, memory, output;  // output: -1 means none
  rlim_t memory_limit;
  int nice;
};

constexpr int last_inherited = inherited_memory;
constexpr int report_number = last_inherited + 1;
// Numbers from here on keep moved descriptors out of each other's way.
constexpr int numbers_above = 16;

void become_child(const void* planned, exec_report report) {
  const auto& is = *static_cast<const plan*>(planned);
  report.need(prctl(PR_SET_PDEATHSIG, SIGKILL), "ask to die with its parent");
  if (getppid() != is.parent) _exit(127);  // The parent has died already.
  // Ctrl-C and `timeout` are meant for the parent, which decides about its children.
  report.need(setpgid(0, 0), "leave the process group");

  report.move_from(numbers_above);
  const auto copy = [&](int number) {
    return report.need(fcntl(number, F_DUPFD_CLOEXEC, numbers_above), "copy a descriptor");
  };
  const int socket = copy(is.socket);
  const int memory = copy(is.memory);
  report.need(dup2(is.null, STDIN_FILENO), "give it a standard input");
  if (is.output >= 0) {
    const int output = copy(is.output);
    report.need(dup2(output, STDOUT_FILENO), "give it an output");
    report.need(dup2(output, STDERR_FILENO), "give it an output");
  }
  report.need(dup2(socket, inherited_socket), "give it the socket");
  report.need(dup2(memory, inherited_memory), "give it the shared memory");
  report.move_to(report_number);
  report.need(close_range(report_number + 1, ~0u, 0), "close the other descriptors");

  if (is.memory_limit > 0) {
    const rlimit limit{is.memory_limit, is.memory_limit};
    report.need(setrlimit(RLIMIT_DATA, &limit), "limit its memory");
  }
  if (is.nice > 0) {
    report.need(setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + is.nice),
                "lower its priority");
  }
  volunteer_for_oom();

  reset_signals();
  execve(is.program, const_cast<char**>(is.arguments.data()),
         const_cast<char**>(is.environment.data()));
  report.fail("execute the program");
}

}  // namespace

pid_t spawn(const child_options& options, const descriptor& socket, const descriptor& memory,
            const descriptor& output) {
  plan is{};
  is.program = options.program.empty() ? "/proc/self/exe" : options.program.c_str();
  is.arguments.push_back(options.program.empty() ? program_invocation_name : is.program);
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
  is.parent = getpid();
  is.null = null.number();
  is.socket = socket.number();
  is.memory = memory.number();
  is.output = output ? output.number() : -1;
  is.memory_limit = options.memory_limit;
  is.nice = options.nice;

  return start_child(become_child, &is);
}

}  // namespace troupe::detail
