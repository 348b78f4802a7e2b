#include <algorithm>

#include "actors/worlds/registry.hpp"
#include "algorithms/program/context.hpp"
#include "algorithms/program/option_table.hpp"

namespace troupe::command {

std::vector<known_name> known_names(const context& of, const std::string& kind,
                                    const std::string& algorithm) {
  std::vector<known_name> names;
  if (kind == "ALGORITHM") {
    for (const auto& one : of.algorithms) names.push_back({one.name, one.help});
  } else if (kind == "ENVIRONMENT") {
    for (const auto& id : known_environments()) names.push_back({id});
  } else if (kind == "TASK") {
    for (const auto& one : of.algorithms) {
      for (const auto& task : one.tasks) names.push_back({task.name, task.help});
    }
  } else if (kind == "OPTION=VALUE") {
    for (const auto& one : of.algorithms) {
      if (one.name == algorithm) names = option_names(one.schema());
    }
    const auto add_values = [&](const std::string& option, const std::string& values) {
      if (std::ranges::find(names, option, &known_name::name) == names.end()) return;
      for (const auto& one : known_names(of, values, algorithm))
        names.push_back({option + one.name, one.help});
    };
    add_values("env.id=", "ENVIRONMENT");
    add_values("task.name=", "TASK");
  }
  return names;
}

}  // namespace troupe::command
