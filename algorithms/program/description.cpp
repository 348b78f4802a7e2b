#include "algorithms/program/description.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace troupe::command {

namespace {

using json = nlohmann::ordered_json;

/// The names of other options, sorted.
std::vector<std::string> sorted_names(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const auto* option : options) names.push_back(option->get_name());
  std::ranges::sort(names);
  return names;
}

json describe(const CLI::Option& option) {
  const auto argument = describe_argument(option);
  json is{{"names", names_of(option)},
          {"argument", argument.name},
          {"default", option.get_default_str()},
          {"description", option.get_description()},
          {"needs", sorted_names(option.get_needs())},
          {"excludes", sorted_names(option.get_excludes())},
          {"environment", option.get_envname()}};
  if (!argument.choices.empty()) is["choices"] = argument.choices;
  if (!argument.range.empty()) is["range"] = argument.range;
  if (option.get_required()) is["required"] = true;
  if (is_repeatable(option)) is["repeatable"] = true;
  return is;
}

void add_arguments(const CLI::App& app, json& to) {
  to["options"] = json::array();
  to["positionals"] = json::array();
  for (const auto* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    to[option->get_positional() ? "positionals" : "options"].push_back(describe(*option));
  }
}

json describe_commands(const CLI::App& app) {
  auto all = json::array();
  for (const auto* command : shown_commands(app)) {
    json one{{"name", command->get_name()}, {"description", command->get_description()}};
    add_arguments(*command, one);
    one["commands"] = describe_commands(*command);
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream from(text);
  for (std::string part; std::getline(from, part, at);) parts.push_back(part);
  return parts;
}

}  // namespace

argument_description describe_argument(const CLI::Option& option) {
  if (is_flag(option)) return {};
  // CLI11 has one text for both, such as "TEXT", "TEXT:FILE", "TEXT:{sync,async}" or
  // "UINT:INT in [0 - 1024]".
  argument_description is{.name = option.get_type_name()};
  const auto opened = is.name.find_first_of("{[");
  if (opened == std::string::npos) {
    if (is.name.ends_with(":FILE")) is.name = "FILE";
    if (is.name.ends_with(":DIR")) is.name = "DIR";
    return is;
  }
  const auto inside = is.name.substr(opened + 1, is.name.find_first_of("}]", opened) - opened - 1);
  if (is.name[opened] == '{') is.choices = split(inside, ',');
  if (is.name[opened] == '[') is.range = inside;
  is.name = is.name.substr(0, std::min(opened, is.name.find(':')));
  if (is.name.empty()) is.name = "TEXT";
  return is;
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

bool is_repeatable(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true)};
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back('-' + name);
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
}

json describe_command_line(const CLI::App& app, const program_words& words) {
  json is{{"program", words.name},
          {"version", TROUPE_VERSION},
          {"description", words.help},
          {"examples", examples_of(words)}};
  add_arguments(app, is);
  is["commands"] = describe_commands(app);
  return is;
}

}  // namespace troupe::command
