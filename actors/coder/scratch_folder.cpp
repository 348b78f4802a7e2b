#include "actors/coder/scratch_folder.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "actors/coder/remove_folder.hpp"
#include "actors/sandbox/program_user.hpp"
#include "runtime/base/log.hpp"

namespace troupe {

namespace {

const std::string inner_name = "work";

void need(int result, const std::string& action) {
  if (result != 0) throw std::system_error(errno, std::generic_category(), "cannot " + action);
}

}  // namespace

scratch_folder::scratch_folder(const program_user* owner) {
  outer_path_ = (std::filesystem::temp_directory_path() / "troupe_code_XXXXXX").string();
  need(::mkdtemp(outer_path_.data()) == nullptr, "make the folder " + outer_path_);
  path_ = outer_path_ + "/" + inner_name;
  try {
    outer_ = detail::descriptor(
        ::open(outer_path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
        "open the folder " + outer_path_);
    need(::mkdirat(outer_.number(), inner_name.c_str(), 0700), "make the folder " + path_);
    if (!owner) return;
    const auto user = owner->number();
    need(::fchmod(outer_.number(), 0711), "let a user pass " + outer_path_);
    need(::fchownat(outer_.number(), inner_name.c_str(), user, user, AT_SYMLINK_NOFOLLOW),
         "give " + path_ + " to user " + std::to_string(user));
  } catch (...) {
    ::rmdir(path_.c_str());
    ::rmdir(outer_path_.c_str());
    throw;
  }
}

scratch_folder::~scratch_folder() {
  if (outer_) remove();
}

folder_content scratch_folder::remove() {
  folder_content removed;
  try {
    remove_folder(outer_, inner_name, removed);
    need(::rmdir(outer_path_.c_str()), "remove the folder " + outer_path_);
  } catch (const std::exception& e) {
    log::warn("a program's folder could not be removed",
              {{"folder", outer_path_}, {"error", e.what()}});
  }
  outer_ = detail::descriptor();
  return removed;
}

}  // namespace troupe
