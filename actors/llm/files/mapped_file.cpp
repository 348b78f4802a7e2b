#include "actors/llm/files/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "actors/llm/files/llm_file_error.hpp"
#include "runtime/base/descriptor.hpp"

namespace troupe::llm {

mapped_file::mapped_file(std::filesystem::path path) : path_(std::move(path)) {
  const auto refuse = [&](const std::string& got) {
    return llm_file_error(path_.string() + ": expected a readable regular file, got " + got);
  };
  // Without O_NONBLOCK, open() could wait for ever for the writer of a pipe.
  const detail::descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) throw refuse(std::strerror(errno));
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) throw refuse(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) throw refuse("another kind of file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return;  // an empty file can't be mapped
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (address == MAP_FAILED) throw refuse(std::strerror(errno));
  bytes_ = {static_cast<const char*>(address), size};
}

mapped_file::~mapped_file() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace troupe::llm
