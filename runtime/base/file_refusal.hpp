#pragma once
// Why a file could not be opened or read, for messages that name the file themselves.

#include <filesystem>
#include <string>
#include <system_error>

#include "runtime/base/regular_file.hpp"

namespace troupe::detail {

/// Returns the text of an error that open_file or read_regular_file threw for `path`, without the
/// path: "expected a regular file, got a FIFO", "No such file or directory".
inline std::string reason_of(const std::system_error& error, const std::filesystem::path& path) {
  const auto* refused = dynamic_cast<const refused_file*>(&error);
  if (!refused) return error.code().message();
  return std::string(refused->what()).substr(path.string().size() + 2);  // After "PATH: ".
}

}  // namespace troupe::detail
