#include "runtime/trace/trace_file.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("trace_file: a FIFO or a device is refused, and nothing waits for its reader") {
  const temporary_folder folder;
  const std::string fifo = folder.path / "trace.json";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(trace_file(fifo),
                    "--trace: cannot write " + fifo + ": expected a regular file, got a FIFO");
  CHECK_THROWS_WITH(trace_file("/dev/null"),
                    "--trace: cannot write /dev/null: expected a regular file, got a device");
}

TEST_CASE("trace_file: a folder that is none is named, and a file that is there is replaced") {
  const temporary_folder folder;
  CHECK_THROWS_WITH(trace_file(folder.path / "none" / "trace.json"),
                    Contains("No such file or directory; expected a file in a folder"));
  CHECK_THROWS_WITH(trace_file(folder.path), Contains("Is a directory"));
  const std::string file = folder.path / "trace.json";
  {
    const trace_file first(file);
  }
  const auto size = std::filesystem::file_size(file);
  CHECK(size > 0);
  {
    const trace_file second(file);
  }
  CHECK(std::filesystem::file_size(file) == size);
}

}  // namespace
}  // namespace troupe
