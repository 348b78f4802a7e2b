#pragma once
// The rules of plug-ins (plugin_algorithm.hpp) in the program that loads them, whatever they
// compute.

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "actors/worlds/plugin_loader.hpp"
#include "algorithms/learner/learner_state.hpp"
#include "algorithms/run/named_algorithm.hpp"
#include "algorithms/run/plugin_algorithm.hpp"

namespace troupe::detail {

/// Returns the rule of that name in a plug-in. Loads the plug-in. Throws plugin_error.
const plugin_rule& rule_in_plugin(const std::string& name);

/// Returns what `call`, a call of code in the plug-in, returns. Throws std::invalid_argument that
/// names the plug-in for whatever it throws.
template <class Call>
auto called_in_plugin(const std::string& name, const Call& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    throw std::invalid_argument(fmt::format("{}: the plug-in threw: {}", name, error.what()));
  }
}

/// Reads the options of a rule. Throws config_error.
rule_options_read options_in_plugin(const std::string& name, const std::string& json);

/// Makes the rule of that name, whose class is Rule, with these options.
template <class Rule>
std::shared_ptr<Rule> make_rule_in_plugin(const std::string& name, const std::string& json) {
  const auto& rule = rule_in_plugin(name);
  const auto options = options_in_plugin(name, json).json;
  auto made = called_in_plugin(name, [&] { return rule.make(options); });
  return std::shared_ptr<Rule>(static_cast<Rule*>(made.release()));
}

/// Shows the state of a rule of that name as a part of its learner's, "rule". Throws state_error
/// that names the plug-in, as `visit` does, for the state of another rule.
void visit_rule(const std::string& name, state_visitor& visit, update_rule& rule);
/// Returns the names of the parts of a rule's state, such as "mean, count"; empty if it has none.
std::string state_names(const std::string& name, update_rule& rule);

/// Returns the default configuration of an algorithm in a plug-in. Throws std::invalid_argument
/// that names the plug-in for values that are refused.
template <described_options Config>
Config defaults_in_plugin(const std::string& name) {
  try {
    auto document = nlohmann::json::object();
    for (const auto& text : rule_in_plugin(name).defaults) apply_override(document, text);
    auto config = parse_config<Config>(document);
    config.rule.text = options_in_plugin(name, config.rule.text).json;
    return config;
  } catch (const config_error& error) {
    throw std::invalid_argument(fmt::format("{}: its default values: {}", name, error.what()));
  }
}

/// Puts the options of the rule into the algorithm's schema, and has them read where a
/// configuration is.
named_algorithm with_rule_options(const std::string& name, named_algorithm algorithm);

/// Returns the algorithm of that name in a plug-in, whose configuration is a Config with a field
/// `rule`.
template <described_options Config>
named_algorithm algorithm_in_plugin(const std::string& name) {
  const auto help = plugin_algorithm_of(name).help;
  return with_rule_options(name, algorithm_of(name, help, defaults_in_plugin<Config>(name)));
}

}  // namespace troupe::detail
