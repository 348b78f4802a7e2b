#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/descriptor.hpp"

namespace troupe {

class program_user;

/// What a program had put into its folder.
struct folder_content {
  std::int64_t entries = 0;  ///< files, folders and others, at any depth
  std::int64_t bytes = 0;    ///< of the files, by their sizes
};

/// An empty folder in the system's place for temporary files, there as long as the object is. It is
/// the user's, if one is given, else this process's. It stands in a folder of this process's, so
/// that a user can't put anything else in its place.
class scratch_folder {
 public:
  /// Throws std::system_error.
  explicit scratch_folder(const program_user* owner);
  /// Removes it unless remove() has.
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;

  const std::string& path() const { return path_; }

  /// Removes it with all that is in it, and says what that was. Takes three descriptors, and memory
  /// that doesn't depend on what there is. What can't be removed is logged.
  folder_content remove();

 private:
  std::string outer_path_, path_;
  detail::descriptor outer_;
};

}  // namespace troupe
