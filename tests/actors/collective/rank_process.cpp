#include "tests/actors/collective/rank_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace troupe {
namespace {

std::vector<std::string> environment_of(const gloo_rendezvous& where) {
  std::vector<std::string> variables;
  for (char** one = environ; *one; ++one) variables.emplace_back(*one);
  variables.push_back("TROUPE_TEST_RANK=" + std::to_string(where.rank));
  variables.push_back("TROUPE_TEST_WORLD=" + std::to_string(where.world));
  variables.push_back("TROUPE_TEST_FILE=" + where.file);
  variables.push_back("TROUPE_TEST_TIMEOUT_MS=" + std::to_string(where.timeout.count()));
  variables.push_back("TROUPE_TEST_PARENT=" + std::to_string(::getpid()));
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  if (!value)
    throw std::runtime_error(std::string(name) + " is not set: no rank_process began this");
  return value;
}

}  // namespace

rank_process::rank_process(const std::string& test_case, const gloo_rendezvous& where) {
  std::vector<std::string> arguments{"rank", test_case};
  auto environment = environment_of(where);
  const auto log = where.file + ".log";
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  const int error = ::posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr,
                                  pointers(arguments).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start a rank");
}

rank_process::~rank_process() {
  if (pid_ == 0) return;
  kill();
  ::waitpid(pid_, nullptr, 0);
}

void rank_process::kill() { ::kill(pid_, SIGKILL); }

int rank_process::wait(std::chrono::seconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      throw std::runtime_error("the rank has not ended within " + std::to_string(limit.count()) +
                               " s");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

gloo_rendezvous rank_of_this_process() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (std::to_string(::getppid()) != environment_variable("TROUPE_TEST_PARENT")) {
    throw std::runtime_error("the process that began this rank has ended");
  }
  return {.rank = std::stoul(environment_variable("TROUPE_TEST_RANK")),
          .world = std::stoul(environment_variable("TROUPE_TEST_WORLD")),
          .file = environment_variable("TROUPE_TEST_FILE"),
          .timeout =
              std::chrono::milliseconds(std::stol(environment_variable("TROUPE_TEST_TIMEOUT_MS")))};
}

}  // namespace troupe
