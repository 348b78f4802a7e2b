#include "actors/recorder/file_io.hpp"

#include <fstream>
#include <system_error>

#include "tests/actors/recorder/file_size_limit.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace {

using troupe::append_file;
using troupe::write_file_atomically;

TEST_CASE("append_file: a piece that does not fit leaves nothing behind", "[recorder]") {
  temporary_folder folder;
  append_file file(folder.path / "a");
  file.append("12345678");
  {
    file_size_limit limit(10);
    CHECK_THROWS_AS(file.append("abcdef"), std::system_error);  // "ab" would fit
  }
  CHECK(read_text(file.path()) == "12345678");
  file.append("9");
  CHECK(read_text(file.path()) == "123456789");
}

TEST_CASE("append_file: a full device is an error that names the file", "[recorder]") {
  append_file file("/dev/full", troupe::detail::file_kinds::any);
  CHECK_THROWS_WITH(file.append("x"), Catch::Contains("cannot append to /dev/full"));
  CHECK_THROWS_WITH(append_file("/nowhere/x"), Catch::Contains("cannot create /nowhere/x"));
}

TEST_CASE("append_file: lines that a crash has taken are missing, and the file goes on",
          "[recorder]") {
  temporary_folder folder;
  const auto path = folder.path / "a";
  std::ofstream(path) << "one\ntwo\nthr";
  {
    auto file = append_file::reopen_lines(path, 1000);
    CHECK(file.size() == 8);
    file.append("three\n");
  }
  CHECK(read_text(path) == "one\ntwo\nthree\n");
  append_file::reopen_lines(path, 4).append("2\n");
  CHECK(read_text(path) == "one\n2\n");
  std::ofstream(path) << "no whole line";
  CHECK(append_file::reopen_lines(path, 1000).size() == 0);
  append_file::reopen_lines(folder.path / "gone", 1000).append("new\n");
  CHECK(read_text(folder.path / "gone") == "new\n");
}

TEST_CASE("write_file_atomically: replaces the file, or leaves the old one", "[recorder]") {
  temporary_folder folder;
  const auto path = folder.path / "a";
  write_file_atomically(path, "old");
  CHECK(read_text(path) == "old");
  {
    file_size_limit limit(4);
    CHECK_THROWS_AS(write_file_atomically(path, "much too long"), std::system_error);
  }
  CHECK(read_text(path) == "old");
  write_file_atomically(path, "");
  CHECK(read_text(path).empty());
  CHECK(count_entries(folder.path) == 1);  // no temporary file is left
}

TEST_CASE("append_file: a link is not written through", "[recorder]") {
  temporary_folder folder;
  write_file_atomically(folder.path / "mine", "kept");
  std::filesystem::create_symlink("mine", folder.path / "progress.csv");
  CHECK_THROWS_AS(append_file(folder.path / "progress.csv"), troupe::refused_file);
  CHECK_THROWS_AS(append_file::reopen(folder.path / "progress.csv", 0), troupe::refused_file);
  CHECK(read_text(folder.path / "mine") == "kept");
}

}  // namespace
