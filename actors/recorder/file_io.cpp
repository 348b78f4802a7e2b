#include "actors/recorder/file_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "actors/checkpoint/durable_file.hpp"

namespace troupe {
namespace {

[[noreturn]] void fail(int code, const std::string& action, const std::filesystem::path& path) {
  throw std::system_error(code, std::generic_category(), "cannot " + action + " " + path.string());
}

/// Writes all of `text`. Returns 0 or an errno value.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int open_empty(const std::filesystem::path& path, detail::file_kinds kinds) {
  return detail::open_file(path, O_WRONLY | O_CREAT | O_TRUNC, kinds, "create").release();
}

}  // namespace

append_file::append_file(std::filesystem::path path, detail::file_kinds kinds)
    : path_(std::move(path)), descriptor_(open_empty(path_, kinds)) {}

append_file append_file::reopen(std::filesystem::path path, std::int64_t size,
                                detail::file_kinds kinds) {
  append_file file;
  file.path_ = std::move(path);
  file.descriptor_ = detail::open_file(file.path_, O_WRONLY, kinds).release();
  const auto there = ::lseek(file.descriptor_, 0, SEEK_END);
  if (there < size) fail(there < 0 ? errno : EINVAL, "go on in the shorter file", file.path_);
  if (::ftruncate(file.descriptor_, size) != 0) fail(errno, "cut", file.path_);
  if (::lseek(file.descriptor_, size, SEEK_SET) < 0) fail(errno, "go on in", file.path_);
  file.size_ = size;
  return file;
}

append_file append_file::reopen_lines(std::filesystem::path path, std::int64_t size,
                                      detail::file_kinds kinds) {
  std::error_code error;
  const auto there = std::filesystem::file_size(path, error);
  if (error == std::errc::no_such_file_or_directory) return append_file(std::move(path), kinds);
  if (!error && there < static_cast<std::uintmax_t>(size)) {
    const auto end =
        detail::read_regular_file(path, detail::whole_file_bytes_max(), kinds).rfind('\n');
    size = end == std::string::npos ? 0 : static_cast<std::int64_t>(end) + 1;
  }
  return reopen(std::move(path), size, kinds);
}

append_file::~append_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

append_file::append_file(append_file&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

append_file& append_file::operator=(append_file&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

void append_file::append(std::string_view piece) {
  if (const int code = write_all(descriptor_, piece)) {
    // A pipe or a device can't be truncated. That is ignored, because the write has failed already.
    if (::ftruncate(descriptor_, size_) == 0) ::lseek(descriptor_, size_, SEEK_SET);
    fail(code, "append to", path_);
  }
  size_ += static_cast<std::int64_t>(piece.size());
}

void append_file::rename(const std::filesystem::path& path) {
  if (::rename(path_.c_str(), path.c_str()) != 0) fail(errno, "write", path);
  path_ = path;
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  replace_durably(path, {&text, 1});
}

}  // namespace troupe
