#pragma once
// Where the kernel shows the control group (cgroups(7)) of this process.

#include <filesystem>
#include <optional>
#include <string_view>

namespace troupe::detail {

/// A control group of this process, as folders of a mounted hierarchy.
struct control_group_place {
  std::filesystem::path mount;  ///< Where the hierarchy is mounted: the group of all groups.
  std::filesystem::path group;  ///< The group of this process, `mount` or a folder below it.
};

/// Returns the control group of this process that has the controller, such as "cpu". Version 1 has
/// a hierarchy for each controller; "" is the single hierarchy of version 2. Returns nullopt if it
/// is not mounted, or if what the kernel shows can't be read. `root` is the folder that /proc is
/// looked for in, and that the mounts begin at; a test makes its own.
std::optional<control_group_place> control_group_of(std::string_view controller,
                                                    const std::filesystem::path& root = "/");

/// Returns the smallest limit of the group and those above it. `limit_in` returns that of a folder,
/// as an optional. Returns nullopt if none of them has one, or there is no place.
template <class LimitIn>
auto smallest_limit(const std::optional<control_group_place>& place, LimitIn limit_in)
    -> decltype(limit_in(std::filesystem::path())) {
  decltype(limit_in(std::filesystem::path())) smallest;
  if (!place) return smallest;
  for (auto group = place->group;; group = group.parent_path()) {
    const auto limit = limit_in(group);
    if (limit && (!smallest || *limit < *smallest)) smallest = limit;
    if (group == place->mount || group == group.parent_path()) return smallest;
  }
}

}  // namespace troupe::detail
