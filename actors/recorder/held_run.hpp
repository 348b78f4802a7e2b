#pragma once

#include <memory>
#include <string>

#include "actors/recorder/run_directory.hpp"
#include "runtime/base/descriptor.hpp"

namespace troupe {

/// As long as it lives, no other process writes to the run: each takes one first, of the file
/// `.lock` in its directory. Whoever only reads takes none. On a file system without locks it keeps
/// nobody out.
class run_lock {
 public:
  /// Throws run_directory_error where the directory can't be written to, or another process holds
  /// it, which is named.
  explicit run_lock(const run_directory& run);

 private:
  detail::descriptor file_;
};

/// A run directory that this process alone writes to.
struct held_run {
  run_directory directory;
  std::shared_ptr<const run_lock> lock;  ///< Null: the caller holds it.
};

/// Makes the directory of a run, as run_directory::create does, and stores its configuration.
/// Throws run_directory_error; nothing is then left of it.
held_run begin_run(const std::filesystem::path& root, const std::string& algo,
                   const std::string& env, const std::string& config);

}  // namespace troupe
