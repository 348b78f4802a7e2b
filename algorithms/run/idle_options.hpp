#pragma once
// Options that change nothing beside the others, which whoever set them should hear of.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "algorithms/run/training_config.hpp"

namespace troupe {

/// An option that isn't as it is by default, and changes nothing.
struct idle_option {
  std::string name;   ///< "trainer.clip_low"
  std::string value;  ///< as in JSON
  std::string why;
};

/// Where it holds, these options change nothing.
struct idle_rule {
  bool holds = false;
  std::string why;
  std::vector<std::string> options;  ///< By their dotted names.
};

namespace detail {
std::vector<idle_option> idle_options(const nlohmann::json& asked, const nlohmann::json& usual,
                                      const std::vector<idle_rule>& rules);
}  // namespace detail

/// All options of the configuration that the rules name and that somebody has set.
template <described_options Config, class Json = nlohmann::json>
std::vector<idle_option> idle_options_of(const Config& asked, const std::vector<idle_rule>& rules) {
  return detail::idle_options(to_json<Config, Json>(asked), to_json<Config, Json>(Config{}), rules);
}

/// The rules of sections that all algorithms on environments have.
std::vector<idle_rule> idle_rules_of(const evaluation_section& evaluation,
                                     const checkpoint_section& checkpoint);
/// Of checkpoints alone.
idle_rule idle_rule_of(const checkpoint_section& checkpoint);

/// Logs a warning of each.
void tell_idle_options(const std::vector<idle_option>& options);

}  // namespace troupe
