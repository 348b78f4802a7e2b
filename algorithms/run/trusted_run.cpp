#include "algorithms/run/trusted_run.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "actors/python/python_environment.hpp"
#include "actors/worlds/plugin_loader.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe {

namespace {

namespace fs = std::filesystem;

/// Code that a configuration names.
struct named_code {
  std::string place;  ///< The JSON pointer of the value.
  std::string value;
  bool in_python = false;
  std::vector<fs::path> files = {};  ///< Where it may be.
};

/// Returns true if the last name in the pointer that is no index of a list is `key`.
bool is_of(std::string_view pointer, std::string_view key) {
  while (!pointer.empty()) {
    const auto slash = pointer.rfind('/');
    const auto last = pointer.substr(slash + 1);
    const bool is_index = !last.empty() && std::ranges::all_of(last, [](unsigned char c) {
      return std::isdigit(c) != 0;
    });
    if (!is_index) return last == key;
    pointer = pointer.substr(0, slash);
  }
  return false;
}

/// Returns the folders from which Python imports modules of the user's.
std::vector<fs::path> python_folders() {
  std::error_code ignored;
  std::vector<fs::path> folders{fs::current_path(ignored)};
  const char* set = std::getenv("PYTHONPATH");
  std::string_view rest = set ? set : "";
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return folders;
}

/// Returns where the module of a name such as "python:my.worlds:Maze" or "my.wrappers.Scaled(2)"
/// may be. Names of all lengths are tried, because the last parts may be names in the module.
std::vector<fs::path> files_of_module(std::string_view name) {
  constexpr std::string_view prefixes[] = {"python:", "gymnasium:", "pettingzoo:"};
  for (const auto prefix : prefixes)
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const auto belongs = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == ':' || c >= 0x80;
  };
  const auto end = std::ranges::find_if_not(name, belongs);
  std::vector<fs::path> files;
  for (const auto& folder : python_folders()) {
    auto at = folder;
    std::string part;
    const auto add = [&] {
      if (part.empty()) return;
      at /= part;
      files.push_back(at);
      files.push_back(fs::path(at) += ".py");
      part.clear();
    };
    for (auto c = name.begin(); c != end; ++c) {
      if (*c == '.' || *c == ':') {
        add();
      } else {
        part += *c;
      }
    }
    add();
  }
  return files;
}

/// Returns the code that a value names, if it names some.
std::optional<named_code> code_in(const std::string& pointer, const std::string& value) {
  if (value.empty()) return std::nullopt;
  named_code found{.place = pointer, .value = value};
  if (names_plugin(value)) {
    found.files.emplace_back(value.substr(0, value.rfind(".so") + 3));
    return found;
  }
  if (is_of(pointer, "python") || is_of(pointer, "interpreter")) {
    found.in_python = true;
    found.files.emplace_back(value);
    return found;
  }
  if (pointer.ends_with("/options/tool") || pointer.ends_with("/options/image")) {
    found.files.emplace_back(value);
    return found;
  }
  const bool is_module =
      is_of(pointer, "wrappers") || value.starts_with("python:") ||
      ((is_of(pointer, "id") || is_of(pointer, "tasks") || is_of(pointer, "world") ||
        is_of(pointer, "name")) &&
       value.find("://") == value.npos && !value.starts_with("openenv:") && names_python(value));
  if (!is_module) return std::nullopt;
  found.in_python = true;
  found.files = files_of_module(value);
  return found;
}

bool lies_in(const fs::path& folder, const fs::path& path) {
  const auto has = [&](const fs::path& whole) {
    return std::mismatch(folder.begin(), folder.end(), whole.begin(), whole.end()).first ==
           folder.end();
  };
  std::error_code ignored;
  if (has(fs::weakly_canonical(path, ignored))) return true;
  // A link in the folder is somebody's choice, too.
  const auto name = fs::weakly_canonical(fs::absolute(path, ignored).parent_path(), ignored);
  return has(name / path.filename());
}

/// Says who else may have written a file; empty for this user and root alone.
std::string other_writer_of(const fs::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return "";
  const auto self = ::geteuid();
  if (status.st_uid != self && status.st_uid != 0)
    return fmt::format("user {} owns {}", status.st_uid, path.string());
  const bool group = (status.st_mode & S_IWGRP) != 0 && status.st_gid != ::getegid();
  const bool others = (status.st_mode & S_IWOTH) != 0;
  return group || others ? "others may write to " + path.string() : "";
}

}  // namespace

void require_trust(const fs::path& folder, const nlohmann::json& document,
                   const std::string& expected) {
  std::error_code error;
  const auto place = fs::canonical(folder, error);
  if (error || !document.is_structured()) return;
  auto other = other_writer_of(folder);
  if (other.empty()) other = other_writer_of(folder / "config.json");
  const bool is_here = lies_in(place, fs::current_path(error));
  const auto flat = document.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    if (!value.is_string()) continue;
    const auto code = code_in(pointer, value.get<std::string>());
    if (!code) continue;
    const bool is_inside = std::ranges::any_of(code->files, [&](const auto& file) {
      return fs::exists(file, error) && lies_in(place, file);
    });
    std::string why;
    if (is_inside) {
      why = "it lies in the folder of the run";
    } else if (code->in_python && is_here) {
      why = "Python imports from the working directory, which lies in the folder of the run";
    } else if (!other.empty()) {
      why = other;
    } else {
      continue;
    }
    throw std::invalid_argument(fmt::format(
        "{}: {}: \"{}\" is code that would run as this user, and whoever made the run may have "
        "chosen it: {}; expected {} where they are trusted",
        (folder / "config.json").string(), code->place, detail::printable(code->value, 200), why,
        expected));
  }
}

}  // namespace troupe
