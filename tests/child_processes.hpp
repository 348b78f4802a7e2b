#pragma once
// What /proc says of the child processes of this one.

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace troupe::testing {

/// The processes that this one has started and that live.
inline std::vector<pid_t> own_children() {
  std::vector<pid_t> found;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(thread.path() / "children");
    for (pid_t child; list >> child;) found.push_back(child);
  }
  return found;
}

/// Returns a file of the folder of a process in /proc, as far as it can be read: a process that
/// ends meanwhile is no error.
inline std::string file_of(const std::filesystem::path& process, const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(process / name).rdbuf();
  return text.str();
}

inline std::string file_of(pid_t process, const std::string& name) {
  return file_of("/proc/" + std::to_string(process), name);
}

}  // namespace troupe::testing
