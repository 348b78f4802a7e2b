#pragma once
// TD3 with targets that are in plug-ins (plugin_target.hpp).

#include "algorithms/off_policy/td3/config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The configuration of such an algorithm. `algo` is the name of the plug-in, such as
/// "./mixed.so:mixed".
struct plugin_td3_config : td3_config {
  plugin_td3_config() { algo = "plugin"; }

  json_object rule = {};  ///< The options of the plug-in's rule.
};

void describe(options_schema<plugin_td3_config>& s);

/// The algorithm with a rule of the plug-in, which this process loads if it has not yet.
algorithm algorithm_with(const plugin_td3_config& config);

}  // namespace troupe
