#pragma once

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace troupe::detail {

/// HOME, else what the user database says; empty where neither is an absolute path.
inline std::filesystem::path home_folder() {
  if (const char* home = std::getenv("HOME"); home && home[0] == '/') return home;
  std::array<char, 16384> texts;
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(::geteuid(), &entry, texts.data(), texts.size(), &found);
  return found && found->pw_dir[0] == '/' ? found->pw_dir : std::filesystem::path();
}

/// A folder of this user's: what the environment's `variable` says, such as XDG_STATE_HOME, else
/// `usual`, such as .local/state, in the home folder. Throws std::runtime_error without one.
inline std::filesystem::path user_folder(const char* variable, const std::filesystem::path& usual) {
  // A relative one is to be ignored: XDG Base Directory Specification.
  if (const char* said = std::getenv(variable); said && said[0] == '/') return said;
  const auto home = home_folder();
  if (!home.empty()) return home / usual;
  throw std::runtime_error("expected " + std::string(variable) + " or HOME to be an absolute path");
}

}  // namespace troupe::detail
