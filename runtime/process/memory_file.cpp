#include "runtime/process/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>

namespace troupe::detail {

descriptor memory_file(const std::string& text, const std::string& action) {
  auto file = empty_memory_file(action);
  seal_memory_file(file, text, action);
  return file;
}

descriptor empty_memory_file(const std::string& action) {
  return descriptor(memfd_create("text", MFD_CLOEXEC | MFD_ALLOW_SEALING), action);
}

void seal_memory_file(const descriptor& file, const std::string& text, const std::string& action) {
  for (std::size_t done = 0; done < text.size();) {
    const auto bytes =
        ::pwrite(file.number(), text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (bytes < 0 && errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "cannot " + action);
    if (bytes > 0) done += static_cast<std::size_t>(bytes);
  }
  ::fcntl(file.number(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

}  // namespace troupe::detail
