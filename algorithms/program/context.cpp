#include "algorithms/program/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "actors/worlds/plugin_loader.hpp"
#include "algorithms/program/plugin_algorithms.hpp"
#include "runtime/base/log.hpp"
#include "runtime/config/config_error.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe::command {

namespace {

/// The name of the algorithm in a configuration, if it has one.
std::optional<std::string> name_in(const nlohmann::json& document) {
  if (!document.is_object() || !document.contains("algo") || !document["algo"].is_string())
    return std::nullopt;
  return document["algo"].get<std::string>();
}

}  // namespace

const named_algorithm& context::find(const std::string& name) const {
  if (names_plugin(name)) {
    const auto known = from_plugins.find(name);
    if (known != from_plugins.end()) return known->second;
    auto made = with_own_options(plugin_algorithm_named(name), options);
    return from_plugins.emplace(name, std::move(made)).first->second;
  }
  std::vector<std::string> names;
  for (const auto& one : algorithms) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  throw std::invalid_argument(unknown_name_message("algorithm", name, names));
}

const named_algorithm& context::algorithm_in(const nlohmann::json& document,
                                             const std::optional<std::string>& asked) const {
  const auto says = name_in(document);
  if (says && asked && *says != *asked) {
    throw config_error("/algo",
                       "expected \"" + *asked + "\", as --algo says, got \"" + *says + '"');
  }
  return find(says.value_or(asked.value_or("ppo")));
}

const named_algorithm& context::algorithm_of_run(const std::filesystem::path& run,
                                                 const nlohmann::json& document) const {
  const auto place = (run / "config.json").string() + ": /algo: ";
  const auto name = name_in(document);
  try {
    if (!name || names_plugin(*name) ||
        std::ranges::count(algorithms, *name, &named_algorithm::name) > 0) {
      return algorithm_in(document);
    }
  } catch (const plugin_error& error) {
    throw std::invalid_argument(
        place + error.what() +
        "; a plug-in that a run names is looked for from the working directory");
  }
  throw std::invalid_argument(fmt::format(
      "{}unknown algorithm \"{}\": expected one of {}; another program with this algorithm has "
      "made the run, so evaluate or resume it by that program",
      place, *name, program));
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
