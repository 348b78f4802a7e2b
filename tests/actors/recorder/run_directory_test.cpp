#include "actors/recorder/run_directory.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace {

using troupe::run_directory;
using troupe::run_directory_error;

TEST_CASE("run_directory: takes the next free number", "[recorder]") {
  temporary_folder root;
  CHECK(run_directory::create(root.path, "ppo", "CartPole-v1").path() ==
        root.path / "ppo" / "CartPole-v1_1");
  CHECK(run_directory::create(root.path, "ppo", "CartPole-v1").path() ==
        root.path / "ppo" / "CartPole-v1_2");
  CHECK(run_directory::create(root.path, "dqn", "CartPole-v1").path() ==
        root.path / "dqn" / "CartPole-v1_1");
  // The numbers of others and of what is no run do not count.
  std::filesystem::create_directory(root.path / "ppo" / "CartPole-v1_x9");
  std::filesystem::create_directory(root.path / "ppo" / "CartPole-v1_7");
  std::filesystem::create_directory(root.path / "ppo" / "CartPole-v10_30");
  CHECK(run_directory::create(root.path, "ppo", "CartPole-v1").path().filename() ==
        "CartPole-v1_8");
  CHECK(run_directory::create(root.path, "ppo", "ALE/Pong-v5").path() ==
        root.path / "ppo" / "ALE-Pong-v5_1");
  CHECK(run_directory::create(root.path, "ppo", "./../worlds/maze.so").path() ==
        root.path / "ppo" / "worlds-maze.so_1");
}

TEST_CASE("run_directory: knows the one made last", "[recorder]") {
  temporary_folder root;
  CHECK_FALSE(run_directory::newest(root.path, "ppo", "CartPole-v1"));
  for (int i = 0; i < 11; ++i) run_directory::create(root.path, "ppo", "CartPole-v1");
  run_directory::create(root.path, "ppo", "CartPole-v10");
  CHECK(run_directory::newest(root.path, "ppo", "CartPole-v1")->path() ==
        root.path / "ppo" / "CartPole-v1_11");
  CHECK_FALSE(run_directory::newest(root.path, "ppo", "CartPole-v0"));
}

TEST_CASE("run_directory: programs that start at once never share one", "[recorder]") {
  temporary_folder root;
  constexpr int programs = 8;
  constexpr int runs = 20;
  std::vector<pid_t> children;
  for (int i = 0; i < programs; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      // The name of the program goes into the folder: a shared one would hold two.
      for (int run = 0; run < runs; ++run)
        std::ofstream(run_directory::create(root.path, "ppo", "x").path() / std::to_string(i));
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(count_entries(root.path / "ppo") == programs * runs);
  for (const auto& entry : std::filesystem::directory_iterator(root.path / "ppo"))
    CHECK(count_entries(entry.path()) == 1);
}

TEST_CASE("run_directory: a place that can not be written to is a clear error", "[recorder]") {
  temporary_folder root;
  std::ofstream(root.path / "file") << "x";
  CHECK_THROWS_WITH(
      run_directory::create(root.path / "file", "ppo", "x"),
      Catch::Contains("cannot create the run directory") && Catch::Contains("Not a directory"));
  CHECK_THROWS_AS(run_directory::create("/proc/nowhere", "ppo", "x"), run_directory_error);
  CHECK_THROWS_AS(run_directory::open(root.path / "file"), run_directory_error);
  CHECK_THROWS_AS(run_directory::open(root.path / "none"), run_directory_error);
}

TEST_CASE("run_directory: a name can not lead out of the root", "[recorder]") {
  temporary_folder root;
  for (const std::string name : {"", ".", "..", "../.."}) {
    INFO(name);
    CHECK_THROWS_AS(run_directory::create(root.path, name, "x"), run_directory_error);
    CHECK_THROWS_AS(run_directory::create(root.path, "ppo", name), run_directory_error);
  }
  CHECK(run_directory::create(root.path, "a/../../b", "x").path() ==
        root.path / "a-..-..-b" / "x_1");
}

TEST_CASE("run_directory: its files have the names that tools look for", "[recorder]") {
  temporary_folder root;
  const auto run = run_directory::open(root.path);
  CHECK(run.config_json() == root.path / "config.json");
  CHECK(run.progress_csv() == root.path / "progress.csv");
  CHECK(run.learning_curve_png() == root.path / "learning_curve.png");
  CHECK(run.summary_json() == root.path / "summary.json");
  CHECK(run.best_model() == root.path / "best_model");
  CHECK(run.last_model() == root.path / "last_model");
}

TEST_CASE("run_directory: a link to a run is opened, and a link in a run is not", "[recorder]") {
  temporary_folder root;
  const auto run = root.path / "run";
  std::filesystem::create_directories(run / "checkpoints" / "ckpt-1");
  std::ofstream(run / "config.json") << "{\"algo\": \"ppo\"}";
  std::filesystem::create_directory_symlink("run", root.path / "latest");
  CHECK(run_directory::open(root.path / "latest").config().at("algo") == "ppo");
  std::filesystem::create_symlink("/etc/passwd", run / "notes");  // no file of a run's
  CHECK_NOTHROW(run_directory::open(run));
  for (const auto* name :
       {"progress.csv", "samples.jsonl", ".lock", "checkpoints/ckpt-1/manifest.json"}) {
    CAPTURE(name);
    std::filesystem::create_symlink(root.path / "mine", run / name);
    CHECK_THROWS_WITH(run_directory::open(run), Catch::Contains(std::string(name) + ": expected") &&
                                                    Catch::Contains("got a symbolic link"));
    std::filesystem::remove(run / name);
  }
  REQUIRE(::mkfifo((run / "last_model").c_str(), 0600) == 0);
  CHECK_THROWS_WITH(run_directory::open(run),
                    Catch::Contains("last_model: expected") && Catch::Contains("got a FIFO"));
}

TEST_CASE("run_directory: a large config.json is refused before it is read", "[recorder]") {
  temporary_folder root;
  std::ofstream(root.path / "config.json") << "{}";
  REQUIRE(::truncate((root.path / "config.json").c_str(), off_t{1} << 40) == 0);
  CHECK_THROWS_WITH(run_directory::open(root.path).config(),
                    Catch::Contains("config.json: expected at most 16777216 bytes"));
}

}  // namespace
