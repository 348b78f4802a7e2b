#include "actors/sandbox/run_files.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>

#include "runtime/base/utf8.hpp"

namespace troupe {

namespace {

using detail::descriptor;

[[noreturn]] void fail_to_write(const std::string& name) {
  if (errno == ENOSPC)
    throw std::invalid_argument(
        "sandbox: expected files within the limits written_bytes and "
        "files, got more with " +
        detail::printable(name, 80));
  throw std::system_error(errno, std::generic_category(),
                          "cannot write the file " + detail::printable(name, 80));
}

void give(const descriptor& file, uid_t user, const std::string& name) {
  if (user != 0 && ::fchown(file.number(), user, user) != 0) fail_to_write(name);
}

void put_file(const descriptor& folder, const std::filesystem::path& path,
              const std::string& content, uid_t user) {
  const auto name = path.string();
  descriptor at(::openat(folder.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                "open a folder");
  for (const auto& part : path.parent_path()) {
    if (::mkdirat(at.number(), part.c_str(), 0700) != 0 && errno != EEXIST) fail_to_write(name);
    descriptor next(
        ::openat(at.number(), part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) fail_to_write(name);
    give(next, user, name);
    at = std::move(next);
  }
  ::unlinkat(at.number(), path.filename().c_str(), 0);  // in a notebook, that of an earlier cell
  const descriptor file(::openat(at.number(), path.filename().c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) fail_to_write(name);
  give(file, user, name);
  for (std::size_t done = 0; done < content.size();) {
    const auto bytes = ::write(file.number(), content.data() + done, content.size() - done);
    if (bytes < 0 && errno != EINTR) fail_to_write(name);
    if (bytes > 0) done += static_cast<std::size_t>(bytes);
  }
}

}  // namespace

void check_file_name(const std::string& name) {
  const std::filesystem::path path(name);
  const bool below = !name.empty() && !path.is_absolute() && path.has_filename() &&
                     name.find('\0') == name.npos &&
                     std::ranges::none_of(path, [](const auto& part) {
                       return part == "." || part == ".." || part.string().size() > 255;
                     });
  if (!below)
    throw std::invalid_argument(
        "sandbox: expected a file's path below its folder, such as "
        "tests/one.txt, got \"" +
        detail::printable(name, 80) + '"');
}

void put_files(const descriptor& folder, const std::map<std::string, std::string>& files,
               uid_t user) {
  for (const auto& [name, content] : files) {
    check_file_name(name);
    put_file(folder, name, content, user);
  }
}

std::map<std::string, std::string> take_files(const descriptor& folder,
                                              const std::vector<std::string>& names,
                                              std::int64_t bytes_max, bool& cut) {
  std::map<std::string, std::string> taken;
  auto left = static_cast<std::size_t>(bytes_max);
  for (const auto& name : names) {
    open_how how{};
    how.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
    const descriptor file(
        static_cast<int>(::syscall(SYS_openat2, folder.number(), name.c_str(), &how, sizeof how)));
    struct stat is{};
    if (!file || ::fstat(file.number(), &is) != 0 || !S_ISREG(is.st_mode)) continue;
    auto& text = taken[name];
    std::array<char, 8192> block;
    for (;;) {
      const auto bytes = ::read(file.number(), block.data(), block.size());
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes <= 0) break;
      const auto kept = std::min(left, static_cast<std::size_t>(bytes));
      text.append(block.data(), kept);
      left -= kept;
      if (kept < static_cast<std::size_t>(bytes)) {
        cut = true;
        break;
      }
    }
  }
  return taken;
}

}  // namespace troupe
