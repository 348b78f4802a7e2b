#include "tests/chaos/node_processes.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <system_error>
#include <vector>

#include "runtime/coroutine/sleep.hpp"

namespace troupe::chaos {

node_processes::node_processes(std::uint16_t port, std::filesystem::path secret, std::size_t slots)
    : port_(port), secret_(std::move(secret)), slots_(slots) {}

node_processes::~node_processes() {
  while (!running_.empty()) kill(running_.begin()->first);
}

void node_processes::start() {
  const auto name = "node-" + std::to_string(++started_);
  std::vector<std::string> texts{
      "chaos",       "node", "--join",        "127.0.0.1:" + std::to_string(port_),
      "--name",      name,   "--slots",       std::to_string(slots_),
      "--threads",   "2",    "--join-secret", secret_.string(),
      "--log-level", "error"};
  std::vector<char*> arguments;
  for (auto& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  // The calling thread may have signals blocked, and the node is to be told to end by one.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, "/proc/self/exe", nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start a node");
  running_.emplace(name, pid);
}

void node_processes::kill(const std::string& name) {
  const auto pid = running_.at(name);
  ::kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  running_.erase(name);
}

task<std::size_t> node_processes::end_all(std::chrono::seconds limit) {
  for (const auto& [name, pid] : running_) ::kill(pid, SIGTERM);
  std::size_t failed = 0;
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!running_.empty() && std::chrono::steady_clock::now() < until) {
    std::erase_if(running_, [&](const auto& one) {
      int status = 0;
      if (waitpid(one.second, &status, WNOHANG) == 0) return false;
      failed += status != 0;
      return true;
    });
    co_await sleep_for(std::chrono::milliseconds(10));
  }
  co_return failed + running_.size();
}

}  // namespace troupe::chaos
