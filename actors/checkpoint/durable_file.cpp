#include "actors/checkpoint/durable_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "actors/checkpoint/disk.hpp"
#include "runtime/base/descriptor.hpp"

namespace troupe {
namespace {

[[noreturn]] void fail(const char* action, const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(),
                          "cannot " + std::string(action) + " " + path.string());
}

void write_pieces(const std::filesystem::path& path, std::span<const std::string_view> pieces) {
  auto& disk = detail::disk::current();
  const detail::descriptor file(disk.create_file(path));
  if (!file) fail("create", path);
  for (auto bytes : pieces) {
    while (!bytes.empty()) {
      const auto written = disk.write(file.number(), bytes);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("write", path);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  if (disk.sync_file(file.number()) != 0) fail("flush", path);
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

void write_durably(const std::filesystem::path& path, std::string_view bytes) {
  write_pieces(path, {&bytes, 1});
}

void replace_durably(const std::filesystem::path& path, std::span<const std::string_view> pieces) {
  auto temporary = path;
  temporary += ".part" + std::to_string(::getpid());
  try {
    write_pieces(temporary, pieces);
    rename_path(temporary, path);
  } catch (...) {
    detail::disk::current().remove(temporary);
    throw;
  }
  sync_folder(folder_of(path));
}

void sync_folder(const std::filesystem::path& path) {
  if (detail::disk::current().sync_folder(path) == 0) return;
  if (errno != EINVAL && errno != ENOTSUP && errno != EACCES) fail("flush", path);
}

void create_folder(const std::filesystem::path& path) {
  if (detail::disk::current().create_folder(path) != 0) fail("create", path);
}

void create_folders_durably(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return;
  if (path.has_parent_path() && path.parent_path() != path) {
    create_folders_durably(path.parent_path());
  }
  if (!path.has_filename()) return;  // The path ends with '/'.
  // Another process may have been faster.
  if (detail::disk::current().create_folder(path) != 0 && errno != EEXIST) fail("create", path);
  try {
    sync_folder(folder_of(path));
  } catch (...) {
    // The next call must not take it for one whose name is on disk. If it isn't empty, it stays.
    detail::disk::current().remove(path);
    throw;
  }
}

void rename_path(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (detail::disk::current().rename(from, to) != 0) fail("rename", from);
}

bool remove_tree(const std::filesystem::path& path) {
  const auto kind = std::filesystem::symlink_status(path);
  if (!std::filesystem::exists(kind)) return false;
  if (std::filesystem::is_directory(kind)) {
    std::vector<std::filesystem::path> entries;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      entries.push_back(entry.path());
    }
    std::ranges::sort(entries);
    for (const auto& entry : entries) remove_tree(entry);
  }
  if (detail::disk::current().remove(path) != 0 && errno != ENOENT) fail("remove", path);
  return true;
}

}  // namespace troupe
