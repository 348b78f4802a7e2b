#pragma once
// On-policy algorithms whose losses are in plug-ins (algorithms/run/plugin_algorithm.hpp).

#include <memory>
#include <nlohmann/json.hpp>

#include "algorithms/learner/configured_learner.hpp"
#include "algorithms/on_policy/config.hpp"
#include "algorithms/on_policy/policy_learners.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The configuration of such an algorithm. `algo` is the name of the plug-in, such as
/// "./awr.so:awr".
struct plugin_on_policy_config : on_policy_config {
  plugin_on_policy_config() { algo = "plugin"; }

  on_policy_options trainer;
  json_object rule = {};  ///< The options of the plug-in's rule.
};

void describe(options_schema<plugin_on_policy_config>& s);

/// Makes the learner with a rule of the plug-in, which this process loads if it has not yet. Throws
/// plugin_error.
std::unique_ptr<on_policy_learner> make_learner(const network_shape& shape,
                                                const plugin_on_policy_config& config);
algorithm algorithm_with(const plugin_on_policy_config& config);

/// The configuration travels as JSON, beside the name of the plug-in, which is not that of a
/// schema.
template <>
struct wire_codec<configured_learner<plugin_on_policy_config, rollout_learner>> {
  using function = configured_learner<plugin_on_policy_config, rollout_learner>;
  static constexpr std::size_t bytes_min = 1;
  static std::size_t size(const function& of);
  static void write(const function& of, wire_writer& to);
  static function read(wire_reader& from);
};

}  // namespace troupe
