#include "runtime/base/new_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "runtime/base/descriptor.hpp"

namespace troupe::detail {

void write_new_file(const std::filesystem::path& path, const std::string& text, mode_t mode) {
  const descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode),
                        "create " + path.string());
  const auto written = ::write(file.number(), text.data(), text.size());
  const bool whole = written == static_cast<ssize_t>(text.size());
  if (whole && ::fsync(file.number()) == 0) return;
  const int error = whole || written < 0 ? errno : ENOSPC;
  ::unlink(path.c_str());
  throw std::system_error(error, std::generic_category(), "cannot write " + path.string());
}

}  // namespace troupe::detail
