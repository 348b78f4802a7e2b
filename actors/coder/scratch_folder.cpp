#include "actors/coder/scratch_folder.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "runtime/log.hpp"

namespace troupe {

namespace fs = std::filesystem;

namespace {

/// A program may have taken its rights to its own folders away.
void make_removable(const fs::path& folder) {
  std::error_code ignored;
  fs::permissions(folder, fs::perms::owner_all, ignored);
  for (fs::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
    if (fs::is_directory(at->symlink_status(ignored))) make_removable(at->path());
  }
}

}  // namespace

scratch_folder::scratch_folder() {
  path_ = (fs::temp_directory_path() / "troupe_code_XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "cannot make the folder " + path_);
  if (::geteuid() != 0 || ::chown(path_.c_str(), nobody, nobody) == 0) return;
  const std::system_error error(errno, std::generic_category(),
                                "cannot give " + path_ + " to nobody");
  ::rmdir(path_.c_str());
  throw error;
}

scratch_folder::~scratch_folder() {
  std::error_code error;
  fs::remove_all(path_, error);
  if (!error) return;
  make_removable(path_);
  fs::remove_all(path_, error);
  if (error) {
    log::warn("a program's folder could not be removed",
              {{"folder", path_}, {"error", error.message()}});
  }
}

}  // namespace troupe
