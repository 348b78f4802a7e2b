#include "actors/worlds/plugin_loader.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "actors/worlds/registry.hpp"
#include "runtime/base/build_stamp.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;

std::string path_of(const std::string& name) {
  return testing::build_path("tests/actors/worlds/plugins/") + name;
}

std::string error_of(const std::string& name) {
  return testing::message_of<plugin_error>([&] { plugin_world_of(name); });
}

TEST_CASE("plug-in: names are paths that end in .so, with or without an id") {
  for (const auto* name : {"./a.so", "a.so", "/b/c.so", "./a.so:Maze-v1"}) {
    CHECK(names_plugin(name));
  }
  for (const auto* name : {"CartPole-v1", ".so", "gymnasium:CartPole-v1", "module:Class.so_called",
                           "openenv:http://host.so"}) {
    CHECK_FALSE(names_plugin(name));
  }
}

TEST_CASE("plug-in: its environment is made and stepped") {
  const auto& world = plugin_world_of(path_of("one.so"));
  CHECK(world.id == "Counter-v0");
  CHECK(world.options.deterministic);
  const auto environments = world.many(3, "{}");
  CHECK(environments->reset(1).obs == recycled_vector<float>{0, 0, 0});
  auto after = environments->step({.discrete = {0, 0, 1}, .continuous = {}});
  CHECK(after.obs == recycled_vector<float>{1, 1, 0});
  REQUIRE(after.failures.size() == 1);
  CHECK(after.failures[0].message == "the plug-in's own error");
  CHECK(world.one("{}")->spec().max_episode_steps == 5);
  CHECK(&plugin_world_of(path_of("../plugins/one.so")) == &world);
}

TEST_CASE("plug-in: one of several environments is named by its id") {
  const auto& with_options = plugin_world_of(path_of("several.so:Counter-v1"));
  float obs = 0;
  with_options.one(R"({"first":100})")->reset(1, {&obs, 1});
  CHECK(obs == 100);
  CHECK_THROWS_WITH(with_options.one(R"({"last":1})"),
                    "env.options: expected {\"first\":100}, got {\"last\":1}");
  CHECK_THROWS_WITH(plugin_world_of(path_of("several.so:Counter-v0")).one(R"({"first":100})"),
                    "env.options: expected none, for it has none, got {\"first\":100}");
  CHECK(plugin_world_of(path_of("several.so:Counters-v0")).many(4, "{}")->size() == 4);
  CHECK_THAT(error_of(path_of("several.so")),
             Contains("several.so:ID, for it has several environments: Counter-v0, Counter-v1, "
                      "Counters-v0, Never-v0"));
  CHECK_THAT(error_of(path_of("several.so:Maze-v0")),
             Contains("which has Counter-v0, Counter-v1, Counters-v0, Never-v0, got Maze-v0"));
}

TEST_CASE("plug-in: a file that is no plug-in is refused, and the message says what it is") {
  CHECK(error_of("./nowhere.so") ==
        "./nowhere.so: expected the path of a plug-in: No such file or directory");
  const auto text = std::filesystem::temp_directory_path() / "troupe_plugin_loader_test.so";
  std::ofstream(text) << "This is a text of more than the few bytes that a header has at least.";
  CHECK_THAT(error_of(text),
             Contains("got a file that can't be loaded: ") && Contains("invalid ELF header"));
  std::filesystem::remove(text);
  CHECK_THAT(error_of(path_of("plain.so")),
             Contains("expected a plug-in with TROUPE_PLUGIN in its source"));
}

TEST_CASE("plug-in: a FIFO is refused, and the loader does not wait for its writer") {
  const temporary_folder folder;
  const std::string fifo = folder.path / "world.so";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(error_of(fifo) == fifo + ": expected a plug-in, got something that is not a regular file");
}

TEST_CASE("plug-in: one of another build of Troupe is refused, and both builds are told") {
  const auto why = error_of(path_of("old.so"));
  CHECK_THAT(why, Contains("old.so: expected a plug-in built with Troupe " + detail::build_stamp() +
                           ", as this program, got one built with "
                           "0.0.9-0123456789abcdef; build it again"));
}

TEST_CASE("plug-in: two environments of one id are refused") {
  CHECK_THAT(error_of(path_of("twice.so")),
             Contains("expected environments with different ids, got two of \"Counter-v0\""));
}

TEST_CASE("plug-in: networks are named by ids of their own, beside environments") {
  CHECK(plugin_encoder_of(path_of("gate.so:gate")).id == "gate");
  CHECK(plugin_encoder_of(path_of("gate.so:bare")).function != nullptr);
  CHECK(plugin_world_of(path_of("gate.so")).id == "Counter-v0");
  const auto error = [](const std::string& name) {
    return testing::message_of<plugin_error>([&] { plugin_encoder_of(path_of(name)); });
  };
  CHECK_THAT(error("gate.so"), Contains("gate.so:ID, for it has several networks: gate, bare"));
  CHECK_THAT(error("gate.so:gat"),
             Contains("expected a network of ") && Contains("which has gate, bare, got gat"));
  CHECK_THAT(error("one.so"), Contains("one.so: expected a plug-in with networks, got none"));
}

TEST_CASE("plug-in: the registry makes its environments by their path") {
  const auto id = path_of("several.so:Counter-v1");
  const auto wrapped = make_vector_environment(
      {.id = id, .options = R"({"first":100})", .wrappers = {.max_episode_steps = 2, .frames = 2}},
      2);
  CHECK(wrapped->spec().id == id);
  CHECK(wrapped->spec().max_episode_steps == 2);
  CHECK(wrapped->reset(1).obs == recycled_vector<float>{100, 100, 100, 100});
  CHECK(make_vector_environment(path_of("several.so:Counters-v0"), 3)->size() == 3);
  CHECK(make_environment(path_of("one.so"))->spec().max_episode_steps == 5);
  CHECK_THROWS_WITH(make_vector_environment(path_of("several.so:Never-v0"), 1),
                    path_of("several.so:Never-v0: the plug-in threw: it can't be made"));
  CHECK_THROWS_WITH(
      make_vector_environment({.id = path_of("one.so"), .options = R"({"first":1})"}, 1),
      path_of("one.so: env.options: expected none, for it has none, got {\"first\":1}"));
  CHECK_THROWS_AS(make_vector_environment("./nowhere.so", 1), plugin_error);
}

TEST_CASE("plug-in: only one that is marked as deterministic counts as such") {
  CHECK(traits_of(path_of("one.so")).not_deterministic.empty());
  CHECK(traits_of(path_of("several.so:Counter-v1")).not_deterministic ==
        "its plug-in doesn't mark it as deterministic");
  CHECK(traits_of("./nowhere.so").not_deterministic.empty());
  CHECK_FALSE(traits_of(path_of("one.so")).blocks);
}

}  // namespace
}  // namespace troupe
