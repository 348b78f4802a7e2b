#pragma once

#include <sys/types.h>

#include <string>

namespace troupe {

/// Whom programs run as where this process is root's: nobody. Anyone's processes are limited in
/// number, but root's.
inline constexpr uid_t nobody = 65534;

/// An empty folder in the system's place for temporary files, there as long as the object is. It is
/// nobody's where this process is root's.
class scratch_folder {
 public:
  /// Throws std::system_error.
  scratch_folder();
  /// Removes it with all that a program has put there; what can't be removed is logged.
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace troupe
