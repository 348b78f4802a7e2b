#include "actors/checkpoint/disk.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "runtime/base/descriptor.hpp"

namespace troupe::detail {

namespace {

disk* replaced_by = nullptr;

}  // namespace

int disk::create_file(const std::filesystem::path& path) {
  // Others may have put a link or a FIFO there.
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                0644);
}

ssize_t disk::write(int file, std::string_view bytes) {
  return ::write(file, bytes.data(), bytes.size());
}

int disk::sync_file(int file) { return ::fsync(file); }

int disk::sync_folder(const std::filesystem::path& path) {
  const descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return -1;
  return ::fsync(folder.number());
}

int disk::create_folder(const std::filesystem::path& path) { return ::mkdir(path.c_str(), 0777); }

int disk::rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  return ::rename(from.c_str(), to.c_str());
}

int disk::exchange(const std::filesystem::path& one, const std::filesystem::path& other) {
  return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
}

int disk::remove(const std::filesystem::path& path) { return ::remove(path.c_str()); }

disk& disk::current() {
  static disk own;
  return replaced_by ? *replaced_by : own;
}

disk::replacement::replacement(disk& by) : before_(std::exchange(replaced_by, &by)) {}
disk::replacement::~replacement() { replaced_by = before_; }

}  // namespace troupe::detail
