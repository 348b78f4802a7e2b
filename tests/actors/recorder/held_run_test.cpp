#include "actors/recorder/held_run.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/actors/recorder/file_size_limit.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

TEST_CASE("run_lock: a run has one at a time, and the second is told who has it", "[recorder]") {
  temporary_folder folder;
  const auto run = run_directory::open(folder.path);
  {
    const run_lock held(run);
    CHECK_THROWS_AS(run_lock(run), run_directory_error);
    CHECK_THROWS_WITH(run_lock(run), Catch::Contains(folder.path.string() + " is in use: process " +
                                                     std::to_string(::getpid()) + " writes to it"));
  }
  CHECK_NOTHROW(run_lock(run));
}

TEST_CASE("run_lock: a program that its holder has started holds nothing", "[recorder]") {
  temporary_folder folder;
  const auto run = run_directory::open(folder.path);
  pid_t child = -1;
  {
    const run_lock held(run);
    std::string name = "sleep", seconds = "600";
    char* const arguments[] = {name.data(), seconds.data(), nullptr};
    REQUIRE(::posix_spawnp(&child, "sleep", nullptr, nullptr, arguments, environ) == 0);
  }
  CHECK_NOTHROW(run_lock(run));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("begin_run: makes the next directory with its configuration, and holds it",
          "[recorder]") {
  temporary_folder root;
  const auto run = begin_run(root.path, "ppo", "x", "{}\n");
  CHECK(run.directory.path() == root.path / "ppo" / "x_1");
  CHECK(read_text(run.directory.config_json()) == "{}\n");
  CHECK_THROWS_AS(run_lock(run.directory), run_directory_error);
  CHECK(begin_run(root.path, "ppo", "x", "{}\n").directory.path() == root.path / "ppo" / "x_2");
}

TEST_CASE("begin_run: where the configuration can't be stored nothing is left", "[recorder]") {
  temporary_folder root;
  const file_size_limit full(1);
  CHECK_THROWS_AS(begin_run(root.path, "ppo", "x", "{}\n"), run_directory_error);
  CHECK(count_entries(root.path / "ppo") == 0);
}

TEST_CASE("run_lock: the lock is not written through a link that comes meanwhile", "[recorder]") {
  temporary_folder folder;
  std::filesystem::create_directory(folder.path / "run");
  const auto run = run_directory::open(folder.path / "run");
  std::ofstream(folder.path / "mine") << "kept";
  std::filesystem::create_symlink("../mine", run.path() / ".lock");
  CHECK_THROWS_AS(run_lock(run), run_directory_error);
  CHECK(read_text(folder.path / "mine") == "kept");
}

}  // namespace
}  // namespace troupe
