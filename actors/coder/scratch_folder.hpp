#pragma once
// Internal to coder/: the folder in which a program runs.

#include <cstdint>
#include <string>

#include "runtime/base/descriptor.hpp"

namespace troupe {

class program_user;

/// The size of the content that a program has left in its folder.
struct folder_content {
  std::int64_t entries = 0;  ///< the number of files, folders and others, at any depth
  std::int64_t bytes = 0;    ///< the sum of the sizes of the files
};

/// An empty folder in the system's directory for temporary files, which exists as long as the
/// object. Its owner is the given user, or else the user of this process. It is inside a folder of
/// this process's user, so that the given user can't replace it.
class scratch_folder {
 public:
  /// Creates the folder. A null `owner` means this process's user. Throws std::system_error.
  explicit scratch_folder(const program_user* owner);
  /// Removes the folder unless remove() has removed it.
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;

  const std::string& path() const { return path_; }

  /// Removes the folder and returns the size of its content. It takes three descriptors and a
  /// constant amount of memory. A failure is logged.
  folder_content remove();

 private:
  std::string outer_path_, path_;
  detail::descriptor outer_;
};

}  // namespace troupe
