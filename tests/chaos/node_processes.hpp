#pragma once
// Nodes of this machine: this very program, each in a process of its own.

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>

#include "runtime/coroutine/task.hpp"

namespace troupe::chaos {

class node_processes {
 public:
  /// They join at that port of this machine by that secret, and take so many replicas each.
  node_processes(std::uint16_t port, std::filesystem::path secret, std::size_t slots);
  /// Kills those that are left.
  ~node_processes();
  node_processes(const node_processes&) = delete;

  /// Starts one more, under a name that none has had: "node-1", "node-2". Throws std::system_error.
  void start();
  pid_t pid_of(const std::string& name) const { return running_.at(name); }
  /// SIGKILL.
  void kill(const std::string& name);
  /// Tells all to end; how many of them fail at that, or take longer than `limit`.
  task<std::size_t> end_all(std::chrono::seconds limit);

 private:
  const std::uint16_t port_;
  const std::filesystem::path secret_;
  const std::size_t slots_;
  int started_ = 0;
  std::map<std::string, pid_t> running_;  ///< By name: those that have not been reaped.
};

}  // namespace troupe::chaos
