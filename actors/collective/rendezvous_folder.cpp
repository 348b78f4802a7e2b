#include "actors/collective/rendezvous_folder.hpp"

#include <stdlib.h>

#include <cerrno>
#include <system_error>

namespace troupe {

rendezvous_folder::rendezvous_folder() {
  auto pattern = (std::filesystem::temp_directory_path() / "troupe-ranks-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::filesystem::filesystem_error("cannot make a folder for a trainer's ranks", pattern,
                                            std::error_code(errno, std::generic_category()));
  }
  path_ = pattern;
}

rendezvous_folder::~rendezvous_folder() {
  std::error_code ignored;  // A folder that can't be removed does no harm.
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace troupe
