#include "algorithms/run/idle_options.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/log.hpp"

namespace troupe {

namespace detail {

std::vector<idle_option> idle_options(const nlohmann::json& asked, const nlohmann::json& usual,
                                      const std::vector<idle_rule>& rules) {
  std::vector<idle_option> idle;
  for (const auto& rule : rules) {
    if (!rule.holds) continue;
    for (const auto& name : rule.options) {
      auto pointer = '/' + name;
      std::ranges::replace(pointer, '.', '/');
      const nlohmann::json::json_pointer at(pointer);
      if (asked.at(at) != usual.at(at)) idle.push_back({name, asked.at(at).dump(), rule.why});
    }
  }
  return idle;
}

}  // namespace detail

idle_rule idle_rule_of(const checkpoint_section& checkpoint) {
  return {checkpoint.every_updates == 0,
          "checkpoint.every_updates is 0, so there are none",
          {"checkpoint.keep"}};
}

std::vector<idle_rule> idle_rules_of(const evaluation_section& evaluation,
                                     const checkpoint_section& checkpoint) {
  return {{evaluation.every_steps == 0,
           "evaluation.every_steps is 0, so there is none during training",
           {"evaluation.stop_at", "evaluation.episodes"}},
          idle_rule_of(checkpoint)};
}

void tell_idle_options(const std::vector<idle_option>& options) {
  for (const auto& each : options) {
    log::warn("an option has no effect",
              {{"option", each.name}, {"value", each.value}, {"why", each.why}});
  }
}

}  // namespace troupe
