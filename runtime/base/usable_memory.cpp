#include "runtime/base/usable_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>

#include "runtime/base/control_group_of.hpp"

namespace troupe {

namespace {

/// The number in a file; nullopt for "max" and for a file that can't be read.
std::optional<std::uint64_t> bytes_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::uint64_t bytes = 0;
  if (!(in >> bytes)) return std::nullopt;
  return bytes;
}

}  // namespace

std::size_t detail::limit_memory(std::size_t machine, const std::filesystem::path& root) {
  std::uint64_t least = machine;
  const auto limit = [&](std::string_view controller, const char* file) {
    const auto bytes = smallest_limit(
        control_group_of(controller, root),
        [file](const std::filesystem::path& group) { return bytes_in(group / file); });
    if (bytes && *bytes > 0) least = std::min(least, *bytes);
  };
  limit("", "memory.max");
  limit("memory", "memory.limit_in_bytes");
  return least;
}

std::size_t usable_memory() {
  static const std::size_t bytes = [] {
    const long pages = ::sysconf(_SC_PHYS_PAGES), each = ::sysconf(_SC_PAGESIZE);
    // A kernel that does not tell the number of its pages has at least this much.
    constexpr std::size_t unknown = std::size_t{1} << 30;
    const auto machine = pages > 0 && each > 0
                             ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(each)
                             : unknown;
    return detail::limit_memory(machine, "/");
  }();
  return bytes;
}

}  // namespace troupe
