#include "algorithms/program/plugin_algorithms.hpp"

#include "algorithms/off_policy/td3/plugin_td3.hpp"
#include "algorithms/on_policy/plugin_on_policy.hpp"
#include "algorithms/run/rule_in_plugin.hpp"

namespace troupe {

named_algorithm plugin_algorithm_named(const std::string& name) {
  const bool is_td3 = detail::rule_in_plugin(name).kind == detail::rule_kind::td3;
  return is_td3 ? detail::algorithm_in_plugin<plugin_td3_config>(name)
                : detail::algorithm_in_plugin<plugin_on_policy_config>(name);
}

}  // namespace troupe
