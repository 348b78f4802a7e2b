#include "algorithms/run/trusted_run.hpp"

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using nlohmann::json;

/// A run with code in its folder.
class run_with_code {
 public:
  run_with_code() {
    fs::create_directory(path());
    for (const auto* name : {"config.json", "maze.so", "worlds.py", "python3"})
      std::ofstream(path() / name) << "";
    std::ofstream(root_.path / "other.so") << "";
  }

  fs::path path() const { return root_.path / "run"; }
  fs::path beside() const { return root_.path / "other.so"; }
  /// Empty if nothing has to be trusted.
  std::string refusal_of(const json& document) const {
    try {
      require_trust(path(), document, "--trust");
      return "";
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  }

 private:
  temporary_folder root_;
};

/// Works in another folder while it lives.
class working_folder {
 public:
  explicit working_folder(const fs::path& path) : before_(fs::current_path()) {
    fs::current_path(path);
  }
  ~working_folder() { fs::current_path(before_); }

 private:
  fs::path before_;
};

TEST_CASE("trust: a run that names code of its own folder asks for it") {
  const run_with_code run;
  const auto plugin = (run.path() / "maze.so").string();
  CHECK_THAT(run.refusal_of({{"env", {{"id", plugin}}}}),
             Contains("config.json: /env/id: \"" + plugin + "\" is code that would run as this") &&
                 Contains("it lies in the folder of the run; expected --trust"));
  CHECK_THAT(run.refusal_of({{"env", {{"id", plugin + ":Maze-v1"}}}}), Contains("/env/id"));
  CHECK_THAT(run.refusal_of({{"env", {{"tasks", {{{"id", plugin}}}}}}}),
             Contains("/env/tasks/0/id"));
  CHECK_THAT(run.refusal_of({{"env", {{"python", (run.path() / "python3").string()}}}}),
             Contains("/env/python"));
  CHECK_THAT(
      run.refusal_of({{"env", {{"options", {{"tool", (run.path() / "python3").string()}}}}}}),
      Contains("/env/options/tool"));
  CHECK(run.refusal_of({{"env", {{"id", run.beside().string()}}}}).empty());
  CHECK(run.refusal_of({{"env", {{"id", "CartPole-v1"}, {"placement", "node:*"}}}}).empty());
}

TEST_CASE("trust: a link to code of the run is code of the run") {
  const run_with_code run;
  fs::create_symlink(run.beside(), run.path() / "linked.so");
  CHECK_THAT(run.refusal_of({{"env", {{"id", (run.path() / "linked.so").string()}}}}),
             Contains("it lies in the folder of the run"));
  fs::create_symlink(run.path() / "maze.so", run.path().parent_path() / "to_it.so");
  CHECK_THAT(run.refusal_of({{"env", {{"id", (run.path().parent_path() / "to_it.so").string()}}}}),
             Contains("it lies in the folder of the run"));
}

TEST_CASE("trust: Python code of the run asks for it by any name that imports it") {
  const run_with_code run;
  {
    const working_folder here(run.path().parent_path());
    CHECK_THAT(run.refusal_of({{"env", {{"id", "run.worlds:Maze"}}}}), Contains("/env/id"));
    CHECK_THAT(run.refusal_of({{"env", {{"wrappers", {"run.worlds.Scaled(2)"}}}}}),
               Contains("/env/wrappers/0"));
    CHECK_THAT(run.refusal_of({{"reward", {"python:run.worlds:score"}}}), Contains("/reward/0"));
    CHECK_THAT(run.refusal_of({{"task", {{"world", "run.worlds:Game"}}}}), Contains("/task/world"));
    CHECK(run.refusal_of({{"env", {{"id", "gymnasium:CartPole-v1"}}}}).empty());
    CHECK(run.refusal_of({{"env", {{"id", "worlds:Maze"}}}}).empty());
  }
  const working_folder inside(run.path());
  CHECK_THAT(run.refusal_of({{"env", {{"id", "worlds:Maze"}}}}), Contains("/env/id"));
  // A numpy.py there would be imported.
  CHECK_THAT(run.refusal_of({{"env", {{"id", "gymnasium:CartPole-v1"}}}}),
             Contains("Python imports from the working directory"));
  CHECK(run.refusal_of({{"env", {{"id", "CartPole-v1"}}}}).empty());
}

TEST_CASE("trust: a run that others may write to asks for code from anywhere") {
  const run_with_code run;
  const json plugin{{"env", {{"id", run.beside().string()}}}};
  const json package{{"env", {{"id", "gymnasium:CartPole-v1"}}}};
  const json own{{"env", {{"id", "CartPole-v1"}}}, {"reward", {"contains:answer"}}};
  for (const auto& path : {run.path(), run.path() / "config.json"}) {
    const auto before = fs::status(path).permissions();
    CHECK(run.refusal_of(plugin).empty());
    fs::permissions(path, before | fs::perms::others_write);
    CHECK_THAT(run.refusal_of(plugin), Contains("others may write to " + path.string()));
    CHECK_THAT(run.refusal_of(package), Contains("/env/id"));
    CHECK(run.refusal_of(own).empty());
    fs::permissions(path, before);
  }
}

}  // namespace
}  // namespace troupe
