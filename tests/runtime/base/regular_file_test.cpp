#include "runtime/base/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/usable_memory.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe::detail {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

void put(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

TEST_CASE("regular file: a link is not followed, unless the user has typed the path") {
  const temporary_folder folder;
  put(folder.path / "secret", "mine");
  fs::create_symlink("secret", folder.path / "link");
  CHECK(read_regular_file(folder.path / "secret", 100) == "mine");
  CHECK_THROWS_AS(read_regular_file(folder.path / "link", 100), refused_file);
  CHECK_THROWS_WITH(read_regular_file(folder.path / "link", 100),
                    Contains("link: expected a regular file, got a symbolic link"));
  CHECK(read_regular_file(folder.path / "link", 100, file_kinds::regular_linked) == "mine");
}

TEST_CASE("regular file: nothing is written through a link") {
  const temporary_folder folder;
  put(folder.path / "secret", "mine");
  fs::create_symlink("secret", folder.path / "link");
  fs::create_symlink("none", folder.path / "dangling");
  for (const auto* name : {"link", "dangling"}) {
    CHECK_THROWS_AS(
        open_file(folder.path / name, O_WRONLY | O_CREAT | O_TRUNC, file_kinds::regular),
        refused_file);
  }
  CHECK(read_text(folder.path / "secret") == "mine");
  CHECK_FALSE(fs::exists(folder.path / "none"));
}

TEST_CASE("regular file: a FIFO without another end does not make the program wait") {
  const temporary_folder folder;
  const auto path = folder.path / "fifo";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(read_regular_file(path, 100), Contains("got a FIFO"));
  CHECK_THROWS_WITH(open_file(path, O_WRONLY, file_kinds::regular), Contains("got a FIFO"));
  CHECK_THROWS_WITH(read_regular_file("/dev/zero", 100), Contains("got a device"));
  CHECK_THROWS_WITH(read_regular_file(folder.path, 100), Contains("Is a directory"));
  CHECK_THROWS_WITH(read_regular_file(folder.path / "none", 100),
                    Contains("cannot open") && Contains("No such file"));
}

TEST_CASE("regular file: one with a byte too many is refused") {
  const temporary_folder folder;
  put(folder.path / "file", "12345");
  CHECK(read_regular_file(folder.path / "file", 5) == "12345");
  CHECK_THROWS_WITH(read_regular_file(folder.path / "file", 4),
                    Contains("file: expected at most 4 bytes, got 5"));
}

TEST_CASE("regular file: one that is too large is refused before it is read") {
  const temporary_folder folder;
  // This file has no blocks on the disk, and more bytes than any memory.
  put(folder.path / "sparse", "");
  REQUIRE(::truncate((folder.path / "sparse").c_str(), off_t{1} << 42) == 0);
  CHECK_THROWS_WITH(read_regular_file(folder.path / "sparse", 1 << 20),
                    Contains("expected at most 1048576 bytes, got 4398046511104"));
  put(folder.path / "empty", "");
  CHECK(read_regular_file(folder.path / "empty", 0).empty());
  CHECK(read_regular_file("/proc/self/stat", 1 << 16).size() > 10);
}

TEST_CASE("regular file: a whole file takes no more memory than it has bytes") {
  const temporary_folder folder;
  const std::string text(1 << 20, 'x');
  put(folder.path / "file", text);
  const auto read = read_regular_file(folder.path / "file", text.size());
  CHECK(read == text);
  CHECK(read.capacity() < text.size() + text.size() / 4);
  CHECK(whole_file_bytes_max() <= usable_memory() / 2);
  REQUIRE(::truncate((folder.path / "file").c_str(), off_t{1} << 42) == 0);
  CHECK_THROWS_WITH(read_regular_file(folder.path / "file", whole_file_bytes_max()),
                    Contains("got 4398046511104"));
}

TEST_CASE("regular file: a folder is plain if it has regular files and folders alone") {
  const temporary_folder folder;
  fs::create_directories(folder.path / "a" / "b");
  put(folder.path / "a" / "b" / "file", "");
  CHECK_NOTHROW(require_plain(folder.path / "none", 2));
  CHECK_NOTHROW(require_plain(folder.path / "a", 2));
  fs::create_symlink("file", folder.path / "a" / "b" / "link");
  CHECK_THROWS_WITH(require_plain(folder.path / "a", 2), Contains("a/b/link: expected"));
  CHECK_NOTHROW(require_plain(folder.path / "a", 1));
  fs::create_directory_symlink("a", folder.path / "c");
  CHECK_THROWS_WITH(require_plain(folder.path / "c", 2), Contains("got a symbolic link"));
}

}  // namespace
}  // namespace troupe::detail
