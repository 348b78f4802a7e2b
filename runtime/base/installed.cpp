#include "runtime/base/installed.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace troupe::detail {

/// The prefix of the Troupe that a program was linked with. find_package(troupe) lets every program
/// define it.
extern const char* const found_prefix [[gnu::weak]];

namespace {

namespace fs = std::filesystem;

/// Looks in the folders above a program.
fs::path find_above(const fs::path& program, const fs::path& relative) {
  constexpr int levels = 4;
  std::error_code ignored;
  auto folder = fs::canonical(program, ignored).parent_path();
  for (int i = 0; i < levels && folder.has_relative_path(); ++i) {
    if (fs::exists(folder / relative, ignored)) return folder / relative;
    folder = folder.parent_path();
  }
  return {};
}

}  // namespace

fs::path find_installed(const fs::path& relative) {
  std::error_code ignored;
  if (const char* prefix = std::getenv("TROUPE_PREFIX")) {
    const auto path = fs::path(prefix) / relative;
    return fs::exists(path, ignored) ? path : fs::path();
  }
  const auto beside = find_above("/proc/self/exe", relative);
  if (!beside.empty()) return beside;
  if (&found_prefix != nullptr && fs::exists(fs::path(found_prefix) / relative, ignored)) {
    return fs::path(found_prefix) / relative;
  }
  const auto command = find_program("troupe");
  return command.empty() ? fs::path() : find_above(command, relative);
}

fs::path find_program(const std::string& name) {
  const auto runs = [](const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != name.npos) return runs(name) ? fs::path(name) : fs::path();
  const char* path = std::getenv("PATH");
  std::string_view left = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!left.empty()) {
    const auto colon = left.find(':');
    const auto folder = left.substr(0, colon);
    const auto at = fs::path(folder.empty() ? "." : folder) / name;
    if (runs(at)) return at;
    left = colon == left.npos ? std::string_view() : left.substr(colon + 1);
  }
  return {};
}

}  // namespace troupe::detail
