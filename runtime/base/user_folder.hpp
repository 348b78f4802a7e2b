#pragma once
// Folders of the user who runs the program.

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace troupe::detail {

/// Returns the home folder: HOME, or else the entry of the user database. Returns an empty path if
/// neither is an absolute path.
inline std::filesystem::path home_folder() {
  if (const char* home = std::getenv("HOME"); home && home[0] == '/') return home;
  std::array<char, 16384> texts;
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(::geteuid(), &entry, texts.data(), texts.size(), &found);
  return found && found->pw_dir[0] == '/' ? found->pw_dir : std::filesystem::path();
}

/// Returns a folder of this user: the environment's `variable`, such as XDG_STATE_HOME, or else
/// `usual`, such as .local/state, in the home folder. Throws std::runtime_error if there is no home
/// folder.
inline std::filesystem::path user_folder(const char* variable, const std::filesystem::path& usual) {
  // The XDG Base Directory Specification requires that relative paths are ignored.
  if (const char* said = std::getenv(variable); said && said[0] == '/') return said;
  const auto home = home_folder();
  if (!home.empty()) return home / usual;
  throw std::runtime_error("expected " + std::string(variable) + " or HOME to be an absolute path");
}

}  // namespace troupe::detail
