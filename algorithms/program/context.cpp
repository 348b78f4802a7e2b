#include "algorithms/program/context.hpp"

#include <algorithm>
#include <stdexcept>

#include "runtime/base/log.hpp"
#include "runtime/config/config_error.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe::command {

const named_algorithm& context::find(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& one : algorithms) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  throw std::invalid_argument(unknown_name_message("algorithm", name, names));
}

const named_algorithm& context::algorithm_in(const nlohmann::json& document,
                                             const std::optional<std::string>& asked) const {
  std::optional<std::string> says;
  if (document.is_object() && document.contains("algo") && document["algo"].is_string()) {
    says = document["algo"].get<std::string>();
  }
  if (says && asked && *says != *asked) {
    throw config_error("/algo",
                       "expected \"" + *asked + "\", as --algo says, got \"" + *says + '"');
  }
  return find(says.value_or(asked.value_or("ppo")));
}

bool context::has_tasks() const {
  return std::ranges::any_of(algorithms, [](const auto& one) { return !one.tasks.empty(); });
}

std::FILE* for_people(bool json, bool verbose) {
  if (!json) return stdout;
  static std::FILE* const nowhere = std::fopen("/dev/null", "w");
  return verbose || nowhere == nullptr ? stderr : nowhere;
}

void quiet_log(bool json, bool verbose) {
  if (json && !verbose) log::set_level("warn");
}

}  // namespace troupe::command
