#include "actors/llm/files/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "actors/llm/files/llm_file_error.hpp"
#include "runtime/base/regular_file.hpp"

namespace troupe::llm {

input_file::input_file(std::filesystem::path path) : path_(std::move(path)) {
  const auto refuse = [&](const std::string& got) {
    return llm_file_error(path_.string() + ": expected a readable regular file, got " + got);
  };
  try {
    file_ = troupe::detail::open_file(path_, O_RDONLY, troupe::detail::file_kinds::regular_linked);
  } catch (const refused_file&) {
    throw refuse("another kind of file");
  } catch (const std::system_error& error) {
    throw refuse(error.code() == std::errc::is_a_directory ? "another kind of file"
                                                           : std::strerror(error.code().value()));
  }
  struct stat status{};
  if (::fstat(file_.number(), &status) != 0) throw refuse(std::strerror(errno));
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void input_file::read(std::uint64_t offset, std::size_t count, char* to) const {
  const auto refuse = [&](const std::string& got) {
    return llm_file_error(path_.string() + ": expected " + std::to_string(size_) +
                          " bytes, as when it was opened, got " + got);
  };
  while (count > 0) {
    const auto got = ::pread(file_.number(), to, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw refuse(std::string("an error: ") + std::strerror(errno));
    if (got == 0) throw refuse("its end at byte " + std::to_string(offset));
    offset += static_cast<std::uint64_t>(got);
    to += got;
    count -= static_cast<std::size_t>(got);
  }
}

std::string input_file::read(std::uint64_t offset, std::size_t count) const {
  std::string bytes(count, '\0');
  read(offset, count, bytes.data());
  return bytes;
}

std::string read_whole_file(const std::filesystem::path& path, std::size_t bytes_max) {
  const input_file file(path);
  if (file.size() > bytes_max)
    throw llm_file_error(path.string() + ": expected at most " + std::to_string(bytes_max) +
                         " bytes, got " + std::to_string(file.size()));
  return file.read(0, static_cast<std::size_t>(file.size()));
}

}  // namespace troupe::llm
