#pragma once
// Files that others may have put into a folder, such as those of a run. A link among them could
// name any file of the user, a FIFO could make a program wait for ever, and a large file could fill
// the memory.

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "runtime/base/descriptor.hpp"

namespace troupe {

/// Thrown for a file that is there and is not opened or read: a link, a FIFO, a device, a folder,
/// or one that is too large. The message names the file, what was expected and what is there.
class refused_file : public std::system_error {
 public:
  refused_file(const std::filesystem::path& path, const std::string& expected,
               const std::string& got);

  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

namespace detail {

/// Which files may be opened.
enum class file_kinds {
  regular,         ///< Regular files. A link in the last part of the path is refused.
  regular_linked,  ///< Regular files, also through links: for paths that the user has typed.
  any,             ///< Every kind, also through links, such as /dev/stdout.
};

/// Opens a file by open(2) with these flags, and never waits for the other end of a FIFO. Throws
/// refused_file for another kind of file, and std::system_error, "cannot ACTION PATH".
descriptor open_file(const std::filesystem::path& path, int flags, file_kinds kinds,
                     const std::string& action = "open");

/// Reads a whole regular file. Throws as open_file does, and refused_file for one of more than
/// `bytes_max` bytes, before it is read.
std::string read_regular_file(const std::filesystem::path& path, std::uint64_t bytes_max,
                              file_kinds kinds = file_kinds::regular);

/// Returns the number of bytes above which no file is read whole: half of the memory that this
/// process may use (usable_memory).
std::uint64_t whole_file_bytes_max();

/// Throws refused_file if there is something at `path` that is neither a regular file nor a folder
/// of such, down to `depth` folders. Links are not followed.
void require_plain(const std::filesystem::path& path, int depth);

}  // namespace detail
}  // namespace troupe
