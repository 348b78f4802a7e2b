#include "runtime/base/control_group_of.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace troupe::detail {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(part);
  return parts;
}

bool contains(const std::vector<std::string>& parts, std::string_view wanted) {
  for (const auto& part : parts)
    if (part == wanted) return true;
  return false;
}

/// A path of mountinfo, in which a space is \040, for example.
std::string decoded(const std::string& text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

struct mounted {
  std::string root;   // the group that is mounted
  std::string point;  // where
};

/// The mount of the hierarchy. A line of mountinfo is "36 35 0:30 ROOT POINT OPTIONS ... - TYPE
/// SOURCE OPTIONS" (proc(5)).
std::optional<mounted> find_mount(std::string_view controller, const fs::path& root) {
  std::ifstream mounts(root / "proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const auto end = line.find(" - ");
    if (end == line.npos) continue;
    const auto before = split(line.substr(0, end), ' ');
    const auto after = split(line.substr(end + 3), ' ');
    if (before.size() < 5 || after.empty()) continue;
    const bool is_wanted = controller.empty() ? after[0] == "cgroup2"
                                              : after[0] == "cgroup" && after.size() > 2 &&
                                                    contains(split(after[2], ','), controller);
    if (is_wanted) return mounted{decoded(before[3]), decoded(before[4])};
  }
  return std::nullopt;
}

/// The path of the group in its hierarchy. A line is "4:cpu,cpuacct:/a/b", and "0::/a/b" in version
/// 2.
std::optional<std::string> find_group(std::string_view controller, const fs::path& root) {
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    const bool is_wanted = controller.empty() ? line.starts_with("0::")
                                              : contains(split(controllers, ','), controller);
    if (is_wanted) return line.substr(second + 1);
  }
  return std::nullopt;
}

}  // namespace

std::optional<control_group_place> control_group_of(std::string_view controller,
                                                    const fs::path& root) {
  const auto mount = find_mount(controller, root);
  const auto group = find_group(controller, root);
  if (!mount || !group || !group->starts_with('/') || !mount->point.starts_with('/')) {
    return std::nullopt;
  }
  // In a container the mount may begin at the container's own group, whose path is the host's.
  const auto within = fs::path(*group).lexically_relative(mount->root);
  const bool is_below = !within.empty() && *within.begin() != "..";
  const auto point = root / fs::path(mount->point).relative_path();
  const auto below = is_below ? within : fs::path(*group).relative_path();
  control_group_place place{point, (point / below).lexically_normal()};
  std::error_code ignored;
  if (!fs::is_directory(place.group, ignored)) place.group = point;
  if (!place.group.has_filename()) place.group = place.group.parent_path();
  return place;
}

}  // namespace troupe::detail
