#include "actors/checkpoint/durable_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "runtime/base/regular_file.hpp"

namespace troupe {
namespace {

[[noreturn]] void fail(const char* action, const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(),
                          "cannot " + std::string(action) + " " + path.string());
}

void write_pieces(const std::filesystem::path& path, std::span<const std::string_view> pieces) {
  const auto file =
      detail::open_file(path, O_WRONLY | O_CREAT | O_TRUNC, detail::file_kinds::regular, "create");
  for (auto bytes : pieces) {
    while (!bytes.empty()) {
      const auto written = ::write(file.number(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("write", path);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  if (::fsync(file.number()) != 0) fail("flush", path);
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
    std::filesystem::rename(temporary, path);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw;
  }
  sync_folder(path.has_parent_path() ? path.parent_path() : ".");
}

void sync_folder(const std::filesystem::path& path) {
  const detail::descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) fail("open", path);
  if (::fsync(folder.number()) != 0) fail("flush", path);
}

}  // namespace troupe
