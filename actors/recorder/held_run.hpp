#pragma once
// Exclusive access to a run directory.

#include <memory>
#include <string>

#include "actors/recorder/run_directory.hpp"
#include "runtime/base/descriptor.hpp"

namespace troupe {

/// A lock on the file `.lock` in a run directory. Every process takes it before it writes to the
/// run, so no other process writes while it is held. Readers don't take it. On a file system
/// without locks it has no effect.
class run_lock {
 public:
  /// Throws run_directory_error if the directory can't be written to, or if another process holds
  /// the lock; the message names the process.
  explicit run_lock(const run_directory& run);

 private:
  detail::descriptor file_;
};

/// A run directory to which only this process writes.
struct held_run {
  run_directory directory;
  std::shared_ptr<const run_lock> lock;  ///< Null means that the caller holds the lock.
};

/// Makes the directory of a run, as run_directory::create does, locks it and stores the
/// configuration. Throws run_directory_error; the directory is then removed.
held_run begin_run(const std::filesystem::path& root, const std::string& algo,
                   const std::string& env, const std::string& config);

}  // namespace troupe
