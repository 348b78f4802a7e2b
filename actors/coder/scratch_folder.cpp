#include "actors/coder/scratch_folder.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "runtime/log.hpp"

namespace troupe {

namespace fs = std::filesystem;

namespace {

/// The entries of a folder. A program may have taken its rights to its own folders away.
std::vector<fs::path> open_up(const fs::path& folder) {
  std::error_code ignored;
  fs::permissions(folder, fs::perms::owner_all, ignored);
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored))
    entries.push_back(at->path());
  return entries;
}

/// Moves a folder into another, under a number that none has there, and counts on from it.
fs::path move_into(const fs::path& folder, const fs::path& where, std::size_t& number) {
  std::error_code error;
  fs::permissions(folder, fs::perms::owner_all, error);
  for (;;) {
    auto to = where / std::to_string(number++);
    fs::rename(folder, to, error);
    if (!error) return to;
    const bool is_taken = error == std::errc::directory_not_empty ||
                          error == std::errc::file_exists || error == std::errc::not_a_directory;
    if (!is_taken) throw fs::filesystem_error("cannot move", folder, to, error);
  }
}

/// Removes a folder, however deep the folders in it are: those in one become entries of the
/// outermost before it goes, so that one descriptor is open at a time and no path is long.
void remove_folder(const fs::path& outermost) {
  std::size_t number = 0;
  auto left = open_up(outermost);
  while (!left.empty()) {
    const auto next = std::move(left.back());
    left.pop_back();
    if (fs::is_directory(fs::symlink_status(next))) {
      for (const auto& entry : open_up(next)) {
        if (fs::is_directory(fs::symlink_status(entry)))
          left.push_back(move_into(entry, outermost, number));
        else
          fs::remove(entry);
      }
    }
    fs::remove(next);
  }
  fs::remove(outermost);
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
  try {
    remove_folder(path_);
  } catch (const std::exception& e) {
    log::warn("a program's folder could not be removed", {{"folder", path_}, {"error", e.what()}});
  }
}

}  // namespace troupe
