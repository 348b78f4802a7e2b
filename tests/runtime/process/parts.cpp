// Plays a part if this process is a child, before the tests' main.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include "tests/runtime/process/support.hpp"

namespace troupe::detail {

namespace {

/// Sends back whatever comes, as urgent as "!" at its beginning says.
int echo(const std::shared_ptr<link>& parent) {
  const auto heard = std::make_shared<hearer>();
  parent->open(heard);
  for (;;) {
    const auto message = heard->next();
    auto answer = parent->allocate(message.size());
    if (message.size() > 0) std::memcpy(answer.data(), message.data(), message.size());
    const bool urgent = message.size() > 0 && message.data()[0] == std::byte{'!'};
    parent->send(std::move(answer), urgent ? priority::control : priority::normal);
  }
}

void die_of(int signal) {
  ::signal(signal, SIG_DFL);  // A sanitizer has a handler.
  ::raise(signal);
}

/// Dies as it is told.
int obey(const std::shared_ptr<link>& parent) {
  const auto heard = std::make_shared<hearer>();
  parent->open(heard);
  for (;;) {
    const auto told = heard->next_text();
    if (told == "segfault") die_of(SIGSEGV);
    if (told == "abort") die_of(SIGABRT);
    if (told == "exit") return 3;
    if (told == "eat") {
      std::vector<std::string> eaten;
      try {
        for (;;) eaten.emplace_back(1 << 20, 'x');
      } catch (const std::bad_alloc&) {
        return 4;
      }
    }
  }
}

/// Does nothing; the second does not even hear its link.
int listen_only(const std::shared_ptr<link>& parent) {
  parent->open(std::make_shared<hearer>());
  for (;;) ::pause();
}
int hang(const std::shared_ptr<link>&) {
  for (;;) ::pause();
}
int leave(const std::shared_ptr<link>&) { return 0; }

/// Has children of its own, and says who they are.
int middle(const std::shared_ptr<link>& parent) {
  const auto heard = std::make_shared<hearer>();
  parent->open(heard);
  player listens("listen"), hangs("hang"), echoes("echo");
  echoes.send("ready");
  echoes.heard->next();
  for (const auto* one : {&listens, &hangs, &echoes}) {
    parent->send(block_of(std::to_string(one->process.pid())), priority::normal);
  }
  for (;;) ::pause();
}

/// Leaves behind a process that it has started.
int breed(const std::shared_ptr<link>& parent) {
  const auto heard = std::make_shared<hearer>();
  parent->open(heard);
  const pid_t left = ::fork();
  if (left == 0) {
    for (;;) ::pause();
  }
  parent->send(block_of(std::to_string(left)), priority::normal);
  heard->next();
  return 0;
}

/// Says what is in its environment.
int recite(const std::shared_ptr<link>& parent) {
  const auto heard = std::make_shared<hearer>();
  parent->open(heard);
  for (;;) {
    const char* value = std::getenv(heard->next_text().c_str());
    parent->send(block_of(value ? value : "none"), priority::normal);
  }
}

/// What it has inherited: its descriptors, signals, group, priority.
int describe(const std::shared_ptr<link>& parent) {
  const auto heard = std::make_shared<hearer>();
  std::multiset<std::string> open;  // The standard ones by their numbers, others by what they are.
  for (int number = 0; number < 1024; ++number) {
    if (::fcntl(number, F_GETFD) < 0) continue;
    const auto name = std::to_string(number);
    const auto is = std::filesystem::read_symlink("/proc/self/fd/" + name).string();
    open.insert(number <= STDERR_FILENO ? name : is.starts_with("socket:") ? "socket" : is);
  }
  std::string list;
  for (const auto& one : open) list += one + " ";
  sigset_t blocked;
  sigprocmask(SIG_SETMASK, nullptr, &blocked);
  int signals = 0;
  for (int signal = 1; signal < NSIG; ++signal) signals += sigismember(&blocked, signal) == 1;
  std::string name;
  std::getline(std::ifstream("/proc/self/comm") >> std::ws, name);
  const std::string marked = std::getenv(child_variable) ? "marked" : "not marked";
  parent->open(heard);
  parent->send(block_of(list + "| " + std::to_string(signals) + " blocked, own group " +
                        std::to_string(getpgid(0) == getpid()) + ", nice " +
                        std::to_string(getpriority(PRIO_PROCESS, 0)) + ", " + name + ", " + marked),
               priority::normal);
  for (;;) ::pause();
}

/// Writes what is no frame, past the link.
int babble(const std::shared_ptr<link>&) {
  const std::string noise(1000, '\xa7');
  [[maybe_unused]] const auto written = ::write(inherited_socket, noise.data(), noise.size());
  for (;;) ::pause();
}

}  // namespace

std::map<std::string, part> parts() {
  return {{"echo", echo},   {"obey", obey},     {"listen", listen_only}, {"hang", hang},
          {"leave", leave}, {"middle", middle}, {"describe", describe},  {"babble", babble},
          {"breed", breed}, {"recite", recite}};
}

namespace {

std::string first_argument() {
  std::ifstream arguments("/proc/self/cmdline");
  std::string program, first;
  std::getline(arguments, program, '\0');
  std::getline(arguments, first, '\0');
  return first;
}

[[maybe_unused]] const bool in_parent = [] {
  const auto parent = link_to_parent();
  if (!parent) return true;
  const auto name = first_argument();
  const auto all = parts();
  const auto found = all.find(name);
  if (found == all.end()) _exit(120);
  try {
    _exit(found->second(parent));
  } catch (const link_closed&) {
    for (;;) ::pause();  // The link's thread ends the process.
  } catch (const std::exception& e) {
    std::cerr << name << ": " << e.what() << "\n";
    _exit(121);
  }
}();

}  // namespace
}  // namespace troupe::detail
