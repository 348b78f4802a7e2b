#include "runtime/base/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>

#include "runtime/base/usable_memory.hpp"

namespace troupe {

namespace fs = std::filesystem;

refused_file::refused_file(const fs::path& path, const std::string& expected,
                           const std::string& got)
    : std::system_error(std::make_error_code(std::errc::operation_not_permitted)),
      text_(path.string() + ": expected " + expected + ", got " + got) {}

namespace detail {

namespace {

const char* name_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISLNK(mode)) return "a symbolic link, which is not followed";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

[[noreturn]] void fail(int code, const std::string& action, const fs::path& path) {
  throw std::system_error(code, std::generic_category(), "cannot " + action + " " + path.string());
}

/// Says what is at a path that open(2) has refused. Another error of open(2) stays that error.
[[noreturn]] void tell_refused(int code, const std::string& action, const fs::path& path) {
  struct stat status{};
  // A FIFO without a reader has ENXIO.
  const bool by_kind = code == ELOOP || code == ENXIO;
  if (by_kind && ::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw refused_file(path, "a regular file", name_of(status.st_mode));
  fail(code, action, path);
}

}  // namespace

descriptor open_file(const fs::path& path, int flags, file_kinds kinds, const std::string& action) {
  flags |= O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  if (kinds == file_kinds::regular) flags |= O_NOFOLLOW;
  descriptor file(::open(path.c_str(), flags, 0644));
  if (!file) tell_refused(errno, action, path);
  if (kinds == file_kinds::any) {
    // Writes to a pipe that is full have to wait.
    const int set = ::fcntl(file.number(), F_GETFL);
    if (set < 0 || ::fcntl(file.number(), F_SETFL, set & ~O_NONBLOCK) != 0)
      fail(errno, action, path);
    return file;
  }
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) fail(errno, action, path);
  if (S_ISDIR(status.st_mode)) fail(EISDIR, action, path);
  if (!S_ISREG(status.st_mode)) throw refused_file(path, "a regular file", name_of(status.st_mode));
  return file;
}

std::string read_regular_file(const fs::path& path, std::uint64_t bytes_max, file_kinds kinds) {
  const auto file = open_file(path, O_RDONLY, kinds);
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) fail(errno, "read", path);
  const auto refuse = [&](std::uint64_t size) {
    return refused_file(path, "at most " + std::to_string(bytes_max) + " bytes",
                        std::to_string(size));
  };
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > bytes_max) throw refuse(size);
  const auto read_to = [&](std::span<char> to) {
    for (;;) {
      const auto got = ::read(file.number(), to.data(), to.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) fail(errno, "read", path);
    }
  };
  std::string bytes(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const auto got = read_to(std::span(bytes).subspan(filled));
    if (got == 0) break;
    filled += got;
  }
  bytes.resize(filled);
  // The file may grow meanwhile, and files of /proc have the size 0. Looking for more bytes must
  // not make the string longer, because that would copy a large file.
  std::array<char, 16384> more;
  while (const auto got = read_to(more)) {
    if (bytes.size() + got > bytes_max) throw refuse(bytes.size() + got);
    bytes.append(more.data(), got);
  }
  return bytes;
}

std::uint64_t whole_file_bytes_max() { return usable_memory() / 2; }

void require_plain(const fs::path& path, int depth) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return;  // whoever opens it is told
  if (S_ISREG(status.st_mode)) return;
  if (!S_ISDIR(status.st_mode))
    throw refused_file(path, "a regular file or a folder", name_of(status.st_mode));
  if (depth == 0) return;
  std::error_code error;
  for (fs::directory_iterator at(path, error); !error && at != fs::directory_iterator();
       at.increment(error))
    require_plain(at->path(), depth - 1);
}

}  // namespace detail
}  // namespace troupe
