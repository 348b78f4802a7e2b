#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "actors/worlds/registry.hpp"
#include "algorithms/program/commands.hpp"
#include "algorithms/program/context.hpp"
#include "algorithms/program/option_table.hpp"
#include "algorithms/program/text_table.hpp"
#include "runtime/base/print_error.hpp"

namespace troupe::command {

namespace {

/// The widest cell of a list. Names are wider where they must be, so lines of usual names fit into
/// 100 columns.
constexpr std::size_t short_cell = 28, help_cell = 70;

/// Parts of a space in one text, in which parts in a row that are alike are counted, such as
/// "42 x Discrete(3)".
std::string short_parts(const std::vector<std::string>& parts) {
  std::vector<std::string> texts;
  for (auto part = parts.begin(); part != parts.end();) {
    const auto next = std::find_if(part, parts.end(), [&](const auto& p) { return p != *part; });
    texts.push_back(next - part > 1 ? fmt::format("{} x {}", next - part, *part) : *part);
    part = next;
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// A space in short, such as "Box(4)", "Box(2) in [-1, 1]" if all bounds are equal, "Discrete(2)".
std::string short_text(const space& of) {
  std::vector<std::string> parts;
  if (const auto* tuple = of.get_if<spaces::tuple>()) {
    for (const auto& part : tuple->parts) parts.push_back(short_text(part));
    return fmt::format("Tuple({})", short_parts(parts));
  }
  if (const auto* many = of.get_if<spaces::multi_discrete>()) {
    for (const auto n : many->n) parts.push_back(fmt::format("{}", n));
    return fmt::format("MultiDiscrete({})", short_parts(parts));
  }
  const auto* box = of.get_if<spaces::box>();
  if (!box) return to_string(of);
  const auto text = fmt::format("Box({})", fmt::join(box->shape, ", "));
  const auto same = [](const std::vector<float>& bounds) {
    return std::ranges::all_of(bounds, [&](float b) { return b == bounds.front(); });
  };
  if (box->low.empty() || !same(box->low) || !same(box->high)) return text;
  if (std::isinf(box->low.front()) && std::isinf(box->high.front())) return text;
  return text + fmt::format(" in [{}, {}]", box->low.front(), box->high.front());
}

/// The spaces of several agents, such as "adversary_0 to adversary_2: Box(16), agent_0: Box(14)".
std::string short_text(const std::vector<agent_spec>& agents, space agent_spec::* which) {
  std::vector<std::string> parts;
  for (auto first = agents.begin(); first != agents.end();) {
    const auto text = short_text((*first).*which);
    const auto differs = [&](const agent_spec& agent) { return short_text(agent.*which) != text; };
    const auto end = std::find_if(first, agents.end(), differs);
    const auto between = end - first == 2 ? "," : " to";
    const auto names = end - first == 1
                           ? first->name
                           : fmt::format("{}{} {}", first->name, between, std::prev(end)->name);
    parts.push_back(fmt::format("{}: {}", names, text));
    first = end;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string observations_of(const env_spec& spec) {
  if (spec.agents.empty()) return short_text(spec.observation_space);
  auto text = short_text(spec.agents, &agent_spec::observation_space);
  return spec.state_space ? text + "; state: " + short_text(*spec.state_space) : text;
}

std::string actions_of(const env_spec& spec) {
  if (spec.agents.empty()) return short_text(spec.action_space);
  const auto first = short_text(spec.agents[0].action_space);
  const auto same = [&](const agent_spec& agent) {
    return short_text(agent.action_space) == first;
  };
  return std::ranges::all_of(spec.agents, same)
             ? first + " each"
             : short_text(spec.agents, &agent_spec::action_space);
}

}  // namespace

int list(const list_arguments&, const context& of) {
  std::vector<std::vector<std::string>> known, tasks;
  for (const auto& a : of.algorithms) {
    known.push_back({a.name, a.help});
    for (const auto& task : a.tasks) tasks.push_back({task.name, task.help});
  }
  std::printf("algorithms\n%s", text_table(known, help_cell).c_str());
  if (of.has_tasks())
    std::printf("tasks of language models\n%s", text_table(tasks, help_cell).c_str());
  known = {{"", "observations", "actions", "solved at"}};
  for (const auto& id : known_environments()) {
    const auto spec = make_vector_environment(id, 1)->spec();
    const auto& solved = spec.reward_threshold;
    known.push_back(
        {id, observations_of(spec), actions_of(spec), solved ? fmt::format("{}", *solved) : "-"});
  }
  std::printf("environments\n%s", text_table(known, short_cell).c_str());
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
    print_error(of.program + " config", e.what());
    return 2;
  }
}

}  // namespace troupe::command
