#include "algorithms/program/own_options.hpp"

#include <nlohmann/json.hpp>

#include "actors/recorder/run_directory.hpp"
#include "algorithms/program/built_in_algorithms.hpp"
#include "algorithms/program/commands.hpp"
#include "algorithms/program/context.hpp"
#include "algorithms/run/run_control.hpp"
#include "runtime/base/log.hpp"
#include "runtime/config/config.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Contains;
using nlohmann::json;

struct mine_options {
  int updates = 3;
  std::string word = "none";
};

void describe(options_schema<mine_options>& s) {
  s.field("updates", &mine_options::updates)
      .at_least(1)
      .help("Training ends after so many updates.");
  s.field("word", &mine_options::word).help("A word.");
}

/// A program with options and callbacks of its own, as troupe::main makes it.
struct own_program {
  own_program() {
    for (auto& one : built_in_algorithms()) {
      of.algorithms.push_back(with_own_options(std::move(one), {options_section("mine", &mine)}));
    }
    of.program = "own";
    of.callbacks = [this](const run_settings&) {
      run_callbacks made;
      made.on_update = [this](loops::progress now, run_control& control) {
        return note(*this, now, control);
      };
      made.on_evaluation = [this](loops::progress, evaluation seen) {
        return note_evaluation(*this, std::move(seen));
      };
      return made;
    };
  }

  static task<loops::verdict> note(own_program& in, loops::progress now, run_control& control) {
    in.rows_with_loss += control.row().contains("train/loss") ? 1 : 0;
    ++in.updates;
    const bool enough = now.updates >= in.mine.updates;
    co_return enough ? loops::verdict::stop : loops::verdict::go_on;
  }
  static task<> note_evaluation(own_program& in, evaluation seen) {
    in.evaluated += static_cast<int>(seen.returns.size());
    co_return;
  }

  int train(const std::string& runs, std::vector<std::string> overrides) {
    command::train_arguments arguments;
    arguments.algo = "ppo";
    arguments.total_steps = "640";
    arguments.overrides = std::move(overrides);
    for (const char* more : {"rollout.n_steps=64", "policy.hidden=[8]", "evaluation.every_steps=64",
                             "evaluation.episodes=2", "evaluation.final_episodes=1"})
      arguments.overrides.emplace_back(more);
    arguments.deterministic = true;
    arguments.runs = runs;
    arguments.metrics.port = 0;
    log::set_level("off");
    const int code = command::train(arguments, of);
    log::set_level("info");
    return code;
  }

  mine_options mine;
  command::context of;
  int updates = 0, rows_with_loss = 0, evaluated = 0;
};

TEST_CASE("own options: are read, checked, and kept in the run's config.json") {
  const temporary_folder folder;
  own_program program;
  REQUIRE(program.train(folder.path / "runs", {"mine.updates=2", "mine.word=hello"}) == 0);
  CHECK(program.mine.updates == 2);
  CHECK(program.mine.word == "hello");
  const auto run = run_directory::open(folder.path / "runs/ppo/CartPole-v1_1");
  const auto config = read_json_file(run.config_json());
  CHECK(config.at("mine") == json({{"updates", 2}, {"word", "hello"}}));

  // Another program reads those of the run.
  own_program other;
  other.of.find("ppo").configure(config, {});
  CHECK(other.mine.word == "hello");
  // Without the section the defaults hold again.
  other.of.find("ppo").configure(json::object(), {});
  CHECK(other.mine.word == "none");
}

TEST_CASE("own options: a callback sees the row of each update and can stop the run") {
  const temporary_folder folder;
  own_program program;
  REQUIRE(program.train(folder.path / "runs", {}) == 0);
  CHECK(program.updates == 3);
  CHECK(program.rows_with_loss == 3);
  CHECK(program.evaluated >= 2);
}

TEST_CASE("own options: a wrong one is named with its section") {
  const own_program program;
  const auto& sac = program.of.find("sac");
  const auto refuse = [&](const json& document) { sac.configure(document, {}); };
  CHECK_THROWS_WITH(refuse({{"mine", {{"updates", 0}}}}),
                    Contains("/mine/updates: expected an integer >= 1, got 0"));
  CHECK_THROWS_WITH(refuse({{"mine", {{"update", 1}}}}), Contains("/mine") && Contains("update"));
  CHECK_THROWS_WITH(refuse({{"mine", 3}}), Contains("/mine"));
  CHECK_THROWS_WITH(refuse({{"your", {{"updates", 1}}}}), Contains("your"));
}

TEST_CASE("own options: the schema of each algorithm has them") {
  const own_program program;
  for (const auto& one : program.of.algorithms) {
    INFO(one.name);
    const auto section = one.schema().at("properties").at("mine");
    CHECK(section.at("properties").at("updates").at("default") == 3);
  }
}

struct paced_options {
  bool paced = false;
  double pace = 1;
};
void describe(options_schema<paced_options>& s) {
  s.field("paced", &paced_options::paced).help("If true, the program waits.");
  s.field("pace", &paced_options::pace)
      .has_effect_if("mine.paced is true", [](const paced_options& o) { return o.paced; })
      .help("How long it waits.");
}

TEST_CASE("own options: those without effect are told, as the algorithm's are") {
  paced_options mine;
  const auto ppo =
      with_own_options(built_in_algorithms().front(), {options_section("mine", &mine)});
  const auto idle = ppo.configure({{"mine", {{"pace", 2}}}, {"rollout", {{"workers", 9}}}}, {});
  REQUIRE(idle.settings.idle.size() == 2);
  CHECK(idle.settings.idle[0].name == "rollout.workers");
  CHECK(idle.settings.idle[1].name == "mine.pace");
  CHECK(idle.settings.idle[1].why == "it has an effect only if mine.paced is true");
  CHECK(ppo.configure({{"mine", {{"pace", 2}, {"paced", true}}}}, {}).settings.idle.empty());
  CHECK(ppo.schema()["properties"]["mine"]["properties"]["pace"]["description"] ==
        "How long it waits. It has an effect only if mine.paced is true.");
}

TEST_CASE("own options: a name that an algorithm has is refused") {
  mine_options mine;
  const auto ppo = built_in_algorithms().front();
  CHECK_THROWS_WITH(with_own_options(ppo, {options_section("trainer", &mine)}),
                    "options: expected a new name, got \"trainer\", which is an option of ppo");
  CHECK_THROWS_WITH(with_own_options(ppo, {options_section("", &mine)}),
                    "options: expected a name, got \"\"");
}

}  // namespace
}  // namespace troupe
