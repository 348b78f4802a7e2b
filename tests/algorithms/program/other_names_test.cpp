#include "actors/torch/torch.hpp"

#include "algorithms/run/other_names.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "algorithms/language_models/grpo/grpo_algorithm.hpp"
#include "algorithms/language_models/sft/sft_algorithm.hpp"
#include "algorithms/program/built_in_algorithms.hpp"
#include "algorithms/program/context.hpp"
#include "runtime/config/config.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using nlohmann::json;

/// All options of a schema by their paths, also the sections.
void find_paths(const json& schema, const std::string& before, std::vector<std::string>& found) {
  if (schema.contains("properties")) {
    for (const auto& [name, option] : schema["properties"].items()) {
      found.push_back(before + name);
      find_paths(option, before + name + '.', found);
    }
  }
  if (schema.contains("anyOf")) {
    for (const auto& one : schema["anyOf"]) find_paths(one, before, found);
  }
}

/// The error of a configuration with this one option at its top; empty if it is none.
std::string refusal(const named_algorithm& of, const std::string& name) {
  return testing::message_of<config_error>([&] { of.configure(json{{name, 1}}, {}); });
}

// The list is what the packages have (tests/llm_peers/names_check.py).
TEST_CASE("other_names: each option of another library is told ours, or why there is none") {
  const auto list = read_json_file(testing::source_path("tests/fixtures/other_names/options.json"));
  command::context all{.program = "troupe", .algorithms = built_in_algorithms(), .environment = ""};
  all.algorithms.push_back(grpo_algorithm());
  for (const auto& [algorithm, names] : list.at("names").items()) {
    const auto& of = all.find(algorithm);
    std::vector<std::string> paths;
    find_paths(of.schema(), "", paths);
    for (const std::string name : names) {
      INFO(algorithm << ": " << name);
      const auto message = refusal(of, name);
      const auto* row = find_other_name(algorithm, name);
      if (!row) {  // the same name, at the top or in a section
        const auto at = std::ranges::find_if(
            paths, [&](const auto& path) { return path == name || path.ends_with('.' + name); });
        REQUIRE(at != paths.end());
        if (*at != name) CHECK_THAT(message, Catch::Contains("did you mean \"" + *at + "\"?"));
      } else if (row->ours.empty()) {
        CHECK_THAT(message,
                   Catch::Contains("there is no such option here: " + std::string(row->note)));
      } else {
        const std::string ours(row->ours);
        CHECK(std::ranges::count(paths, ours) > 0);
        CHECK_THAT(message, Catch::Contains("did you mean \"" + ours + "\"?"));
      }
    }
  }
}

TEST_CASE("other_names: the usual names of SFTConfig are told ours") {
  const auto sft = sft_algorithm();
  std::vector<std::string> paths;
  find_paths(sft.schema(), "", paths);
  int rows = 0;
  for (const auto& row : other_names()) {
    if (row.algorithms != "sft") continue;
    ++rows;
    INFO(row.name);
    if (!row.ours.empty()) CHECK(std::ranges::count(paths, row.ours) == 1);
    CHECK_THAT(refusal(sft, std::string(row.name)),
               Catch::Contains(std::string(row.ours.empty() ? row.note : row.ours)));
  }
  CHECK(rows > 20);
}

TEST_CASE("other_names: a name that is near to nothing, and one that is a section here") {
  const auto all = built_in_algorithms();
  const auto& dqn = *std::ranges::find(all, "dqn", &named_algorithm::name);
  CHECK(find_other_name("ppo", "buffer_size") == nullptr);
  CHECK_THAT(refusal(dqn, "buffer_size"),
             Catch::Contains("unknown key \"buffer_size\"; did you mean \"replay.capacity\"?"));
  CHECK_THAT(refusal(dqn, "env"), Catch::Contains("did you mean \"env.id\"?"));
  CHECK_THAT(refusal(dqn, "verbose"), Catch::Contains("-v prints the table"));
}

}  // namespace
}  // namespace troupe
