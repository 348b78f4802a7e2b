#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "actors/env/openenv/text_world.hpp"
#include "actors/env/registry.hpp"
#include "actors/llm/tasks/problem.hpp"
#include "deploy/troupe/algorithms.hpp"
#include "deploy/troupe/commands.hpp"
#include "deploy/troupe/option_table.hpp"
#include "deploy/troupe/text_table.hpp"

namespace troupe::command {

namespace {

/// "Box(4)", "Box(2) in [-1, 1]" where all bounds are the same, "Discrete(2)".
std::string short_text(const space& of) {
  const auto* box = of.get_if<spaces::box>();
  if (!box) return to_string(of);
  const auto text = fmt::format("Box({})", fmt::join(box->shape, ", "));
  const auto same = [](const std::vector<float>& bounds) {
    return std::ranges::all_of(bounds, [&](float b) { return b == bounds.front(); });
  };
  if (box->low.empty() || !same(box->low) || !same(box->high)) return text;
  return text + fmt::format(" in [{}, {}]", box->low.front(), box->high.front());
}

}  // namespace

int list(const list_arguments&) {
  std::vector<std::vector<std::string>> known;
  for (const auto& a : algorithms()) known.push_back({a.name, a.what});
  std::printf("algorithms\n%s", text_table(known).c_str());
  known.clear();
  for (const auto& task : llm::problem_tasks()) known.push_back({task.name, task.what});
  for (const auto& game : openenv::text_games()) known.push_back({game.name, game.what});
  std::printf("tasks of language models\n%s", text_table(known).c_str());
  known = {{"", "observations", "actions", "solved at"}};
  for (const auto& id : known_environments()) {
    const auto spec = make_vector_environment(id, 1)->spec();
    const auto& solved = spec.reward_threshold;
    known.push_back({id, short_text(spec.observation_space), short_text(spec.action_space),
                     solved ? fmt::format("{}", *solved) : "-"});
  }
  std::printf("environments\n%s", text_table(known).c_str());
  return 0;
}

int config_schema(const config_arguments& arguments) {
  try {
    const auto schema = find_algorithm(arguments.algo).schema();
    if (arguments.json) {
      std::puts(schema.dump(2).c_str());
    } else {
      std::printf("%s", option_table(schema).c_str());
    }
    return 0;
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "troupe config: %s\n", e.what());
    return 2;
  }
}

}  // namespace troupe::command
