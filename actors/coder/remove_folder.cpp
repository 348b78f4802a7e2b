#include "actors/coder/remove_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>

namespace troupe {

namespace {

using detail::descriptor;

constexpr int passes_max = 1000;

struct close_folder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using open_folder = std::unique_ptr<DIR, close_folder>;

[[noreturn]] void fail(const char* action, const std::string& name) {
  throw std::system_error(errno, std::generic_category(),
                          std::string("cannot ") + action + " " + name);
}

class remover {
 public:
  remover(int outer, folder_content& removed) : outer_(outer), removed_(removed) {}

  void remove(const std::string& first) {
    give_rights(outer_, first);
    remove_one(first);
    for (std::uint64_t next = 0; next < moved_; ++next) remove_one(std::to_string(next));
  }

 private:
  /// Gives the owner all rights to a folder. A program may have removed these rights, without which
  /// the folder can't be read or moved.
  static void give_rights(int folder, const std::string& name) {
    const descriptor found(
        ::openat(folder, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (found) ::chmod(("/proc/self/fd/" + std::to_string(found.number())).c_str(), 0700);
  }

  void remove_one(const std::string& name) {
    for (int pass = 0; ::unlinkat(outer_, name.c_str(), AT_REMOVEDIR) != 0; ++pass) {
      if (errno == ENOENT) return;
      if (errno == ENOTDIR) return remove_entry(outer_, name);
      // The folder is filled as fast as it is emptied, or has an entry that can't be removed.
      if ((errno != ENOTEMPTY && errno != EEXIST) || pass == passes_max) fail("remove", name);
      empty(name);
    }
  }

  static void remove_entry(int folder, const std::string& name) {
    if (::unlinkat(folder, name.c_str(), 0) != 0 && errno != ENOENT) fail("remove", name);
  }

  /// Removes the entries that it sees. Entries that are moved or made meanwhile may remain.
  void empty(const std::string& name) {
    const int number =
        ::openat(outer_, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const open_folder folder(number < 0 ? nullptr : ::fdopendir(number));
    if (!folder) {
      const int error = errno;
      if (number >= 0) ::close(number);
      errno = error;
      fail("open", name);
    }
    while (const dirent* entry = next_of(folder.get(), name)) take_out(number, entry->d_name);
  }

  static const dirent* next_of(DIR* folder, const std::string& name) {
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(folder);
      if (entry == nullptr && errno != 0) fail("read", name);
      if (entry == nullptr) return nullptr;
      const std::string_view called = entry->d_name;
      if (called != "." && called != "..") return entry;
    }
  }

  void take_out(int folder, const std::string& name) {
    struct stat is{};
    if (::fstatat(folder, name.c_str(), &is, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return;
      fail("look at", name);
    }
    ++removed_.entries;
    if (!S_ISDIR(is.st_mode)) {
      if (S_ISREG(is.st_mode)) removed_.bytes += is.st_size;
      return remove_entry(folder, name);
    }
    give_rights(folder, name);
    const auto to = std::to_string(moved_);
    if (::renameat(folder, name.c_str(), outer_, to.c_str()) == 0)
      ++moved_;
    else if (errno != ENOENT)
      fail("move", name);
  }

  const int outer_;
  folder_content& removed_;
  std::uint64_t moved_ = 0;
};

}  // namespace

void remove_folder(const descriptor& outer, const std::string& name, folder_content& removed) {
  remover(outer.number(), removed).remove(name);
}

}  // namespace troupe
