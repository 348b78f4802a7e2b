#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "actors/worlds/registry.hpp"
#include "algorithms/program/commands.hpp"
#include "algorithms/program/context.hpp"
#include "algorithms/program/option_table.hpp"
#include "algorithms/program/text_table.hpp"

namespace troupe::command {

namespace {

/// A space in short, such as "Box(4)", "Box(2) in [-1, 1]" if all bounds are equal, "Discrete(2)".
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

int list(const list_arguments&, const context& of) {
  std::vector<std::vector<std::string>> known, tasks;
  for (const auto& a : of.algorithms) {
    known.push_back({a.name, a.help});
    for (const auto& task : a.tasks) tasks.push_back({task.name, task.help});
  }
  std::printf("algorithms\n%s", text_table(known).c_str());
  if (of.has_tasks()) std::printf("tasks of language models\n%s", text_table(tasks).c_str());
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

int config_schema(const config_arguments& arguments, const context& of) {
  try {
    auto schema = of.find(arguments.algo).schema();
    const nlohmann::json::json_pointer environment("/properties/env/properties/id/default");
    if (!of.environment.empty() && schema.contains(environment))
      schema[environment] = of.environment;
    if (arguments.json) {
      std::puts(schema.dump(2).c_str());
    } else {
      std::printf("%s", option_table(schema).c_str());
    }
    return 0;
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "%s config: %s\n", of.program.c_str(), e.what());
    return 2;
  }
}

}  // namespace troupe::command
