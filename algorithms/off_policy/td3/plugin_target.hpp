#pragma once
// For authors of plug-ins: a target for TD3 in a shared object, as
// algorithms/run/plugin_algorithm.hpp has losses.
//
//     troupe::variable mixed(troupe::variable q, const troupe::transition_batch& batch,
//                            const mixed_options& options) { ... }
//
//     TROUPE_PLUGIN(troupe::plugin_td3("mixed", "TD3 with a mean of critics as target", mixed))

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/gradients/graph.hpp"
#include "algorithms/off_policy/transition_batch.hpp"
#include "algorithms/run/plugin_algorithm.hpp"

namespace troupe {

/// A rule for the targets of TD3.
class td3_rule : public update_rule {
 public:
  /// Returns the bootstrap values [B, 1] of the next states. `q` [B, n_critics] are the values of
  /// the target critics for the target actor's actions with their noise. TD3's rule is row_min(q).
  virtual variable next_value(variable q, const transition_batch& batch) = 0;
};

namespace detail {

/// A rule without a state.
template <class Options>
class target_rule final : public td3_rule {
 public:
  using function = variable (*)(variable, const transition_batch&, const Options&);

  target_rule(function target, const Options& options) : target_(target), options_(options) {}
  variable next_value(variable q, const transition_batch& batch) override {
    return target_(q, batch, options_);
  }

 private:
  function target_;
  Options options_;
};

}  // namespace detail

/// TD3 with that target. `defaults` are values of other options that differ from those of
/// td3_config, as they are typed: {"trainer.n_critics=3"}.
template <described_options Options>
plugin_algorithm plugin_td3(std::string id, std::string help,
                            variable (*target)(variable, const transition_batch&, const Options&),
                            std::vector<std::string> defaults = {}) {
  return detail::plugin_algorithm_with<Options>(
      detail::rule_kind::td3, std::move(id), std::move(help), std::move(defaults),
      [target](const Options& options) {
        return std::make_unique<detail::target_rule<Options>>(target, options);
      });
}

/// The same for a rule with a state, a class that is constructed from its options.
template <std::derived_from<td3_rule> Rule, described_options Options>
  requires std::constructible_from<Rule, const Options&>
plugin_algorithm plugin_td3(std::string id, std::string help,
                            std::vector<std::string> defaults = {}) {
  return detail::plugin_algorithm_with<Options>(
      detail::rule_kind::td3, std::move(id), std::move(help), std::move(defaults),
      [](const Options& options) { return std::make_unique<Rule>(options); });
}

}  // namespace troupe
