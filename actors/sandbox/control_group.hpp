#pragma once
// Internal to sandbox/: control groups (cgroup v2), which limit all processes of a run together.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "actors/sandbox/code_result.hpp"
#include "runtime/base/descriptor.hpp"

namespace troupe {

/// The control group of one run. The kernel removes nothing of it by itself; see end().
class control_group {
 public:
  /// What its processes have used, and the limit that they have hit.
  struct usage {
    std::int64_t memory_bytes = 0;  ///< the most at a time, 0 if the kernel doesn't tell
    code_limit limit = code_limit::none;
  };

  control_group(std::filesystem::path folder, const code_limits& limits);
  control_group(control_group&& other) noexcept;
  control_group& operator=(control_group&&) = delete;
  ~control_group();

  /// The file into which a process writes "0" to become a member.
  int members() const { return members_.number(); }
  /// Removes the group, whose processes have ended. A failure is logged.
  usage end();

 private:
  std::filesystem::path folder_;  // empty once it has ended
  detail::descriptor members_;
};

/// The folder in which this process may make control groups with limits of memory and processes.
class control_groups {
 public:
  /// Finds the folder: the group of this process, if it is delegated to this process, which is then
  /// moved into a group of its own below it. Returns none if there is no such folder. `why` says
  /// why not, or where it is.
  static std::optional<control_groups> find(std::string& why);

  /// Makes a group. Throws std::system_error.
  control_group make(const code_limits& limits) const;

 private:
  explicit control_groups(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_;
};

}  // namespace troupe
