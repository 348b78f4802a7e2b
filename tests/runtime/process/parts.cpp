// Plays a part if this process is a child, before the tests' main.

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <iostream>

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

/// Dies as it is told, or answers what it is asked.
int obey(const std::shared_ptr<link>& parent) {
  const auto heard = std::make_shared<hearer>();
  parent->open(heard);
  for (;;) {
    const auto told = heard->next_text();
    if (told == "segfault") *static_cast<volatile int*>(nullptr) = 1;
    if (told == "abort") std::abort();
    if (told == "exit") return 3;
  }
}

}  // namespace

std::map<std::string, part> parts() { return {{"echo", echo}, {"obey", obey}}; }

namespace {

[[maybe_unused]] const bool in_parent = [] {
  const auto parent = link_to_parent();
  if (!parent) return true;
  std::ifstream arguments("/proc/self/cmdline");
  std::string program, name;
  std::getline(arguments, program, '\0');
  std::getline(arguments, name, '\0');
  const auto all = parts();
  const auto found = all.find(name);
  if (found == all.end()) _exit(120);
  try {
    _exit(found->second(parent));
  } catch (const std::exception& e) {
    std::cerr << name << ": " << e.what() << "\n";
    _exit(121);
  }
}();

}  // namespace
}  // namespace troupe::detail
