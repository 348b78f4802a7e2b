#pragma once
// For authors of plug-ins: an update rule in a shared object, which `--algo` names by its path.
//
//     struct awr_options { double beta = 1.0; };
//     void describe(troupe::options_schema<awr_options>& s) {
//       s.field("beta", &awr_options::beta).above(0).help("The temperature of the weights.");
//     }
//     troupe::ppo_loss_result awr_loss(const troupe::ppo_loss_inputs& in,
//                                      const awr_options& options,
//                                      const troupe::loss_settings& settings) { ... }
//
//     TROUPE_PLUGIN(troupe::plugin_on_policy("awr", "advantage-weighted regression", awr_loss))
//
// `troupe train --algo ./awr.so rule.beta=0.5` trains with it. Roles, advantages, minibatches,
// ranks, evaluation and checkpoints are those of PPO. The options of the rule are the section
// `rule` of the configuration, and all others are those of an on-policy algorithm. Targets for TD3
// are made by algorithms/off_policy/td3/plugin_target.hpp.

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/worlds/plugin.hpp"
#include "algorithms/losses/ppo_loss.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

/// The options of the section `trainer` that a loss reads, and the progress of the run.
struct loss_settings {
  double ent_coef = 0.0;
  double vf_coef = 0.5;  ///< 0 if trainer.baseline is false, so that there is no critic.
  double importance_cap = 2.0;
  double progress_remaining = 1.0;  ///< Falls from 1 to 0 during training.
};

/// Receives the numbers that a checkpoint keeps of a rule. It reads or replaces their values.
class rule_state {
 public:
  virtual ~rule_state() = default;
  /// Shows numbers. Each has another name, and their count is the same whenever the state is
  /// visited.
  virtual void operator()(std::string_view name, std::span<float> numbers) = 0;
};

/// An update rule of a plug-in. A learner has one of its own, which one thread calls.
class update_rule {
 public:
  virtual ~update_rule() = default;
  /// Shows the numbers that the rule changes from minibatch to minibatch.
  virtual void visit_state(rule_state&) {}
};

/// An on-policy update rule. One with a state is refused with trainer.replicas above 1, as each
/// rank would have another state.
class on_policy_rule : public update_rule {
 public:
  /// Returns the loss of a minibatch of N rows, [1, 1], which the learner minimises, and its
  /// metrics, which are means over the rows or sums of such means. A loss that reads numbers by
  /// `values` or `number` and puts them back as constants is not differentiated by them.
  virtual ppo_loss_result loss(const ppo_loss_inputs& in, const loss_settings& settings) = 0;
};

namespace detail {

/// What became of a rule's options that were read. An exception of a plug-in's own type would not
/// be recognised by the program.
struct rule_options_read {
  std::string json;               ///< All options with their values, as a JSON object.
  std::vector<idle_option> idle;  ///< Those without effect.
  bool refused = false;           ///< The rest says why.
  std::string pointer;            ///< The place, such as "/rule/beta".
  std::string message;            ///< Without the place.
  config_fault fault = config_fault::other;
};

enum class rule_kind { on_policy, td3 };

/// The content of plugin_algorithm::rule. JSON objects are texts.
struct plugin_rule {
  rule_kind kind = rule_kind::on_policy;
  /// What `defaults` of plugin_on_policy has.
  std::vector<std::string> defaults;
  /// Returns the JSON Schema of the rule's options.
  std::function<std::string()> schema;
  std::function<rule_options_read(const std::string& json)> read;
  /// Makes the rule, of the class of its kind, with options that `read` has returned.
  std::function<std::unique_ptr<update_rule>(const std::string& json)> make;
};

std::string rule_schema(const struct_kind& kind, const void* defaults);
/// Reads JSON into `values`, which are the defaults before.
rule_options_read read_rule_options(const struct_kind& kind, const std::string& json, void* values,
                                    const void* defaults);

/// Makes an algorithm of a plug-in. `make` makes the rule from its options.
template <class Options>
plugin_algorithm plugin_algorithm_with(
    rule_kind kind, std::string id, std::string help, std::vector<std::string> defaults,
    std::function<std::unique_ptr<update_rule>(const Options&)> make) {
  const auto read = [](const std::string& json, Options& values) {
    const Options usual{};
    return read_rule_options(struct_kind_of<Options>(), json, &values, &usual);
  };
  auto rule = std::make_shared<plugin_rule>();
  rule->kind = kind;
  rule->defaults = std::move(defaults);
  rule->schema = [] {
    const Options usual{};
    return rule_schema(struct_kind_of<Options>(), &usual);
  };
  rule->read = [read](const std::string& json) {
    Options values{};
    return read(json, values);
  };
  rule->make = [read, make = std::move(make)](const std::string& json) {
    Options values{};
    read(json, values);
    return make(values);
  };
  return {.id = std::move(id), .help = std::move(help), .rule = std::move(rule)};
}

/// A rule without a state.
template <class Options>
class loss_rule final : public on_policy_rule {
 public:
  using function = ppo_loss_result (*)(const ppo_loss_inputs&, const Options&,
                                       const loss_settings&);

  loss_rule(function loss, const Options& options) : loss_(loss), options_(options) {}
  ppo_loss_result loss(const ppo_loss_inputs& in, const loss_settings& settings) override {
    return loss_(in, options_, settings);
  }

 private:
  function loss_;
  Options options_;
};

}  // namespace detail

/// An on-policy algorithm with that loss. `defaults` are values of other options that differ from
/// those of on_policy_options, as they are typed: {"trainer.n_epochs=4", "rollout.n_steps=256"}.
template <described_options Options>
plugin_algorithm plugin_on_policy(std::string id, std::string help,
                                  ppo_loss_result (*loss)(const ppo_loss_inputs&, const Options&,
                                                          const loss_settings&),
                                  std::vector<std::string> defaults = {}) {
  return detail::plugin_algorithm_with<Options>(
      detail::rule_kind::on_policy, std::move(id), std::move(help), std::move(defaults),
      [loss](const Options& options) {
        return std::make_unique<detail::loss_rule<Options>>(loss, options);
      });
}

/// The same for a rule with a state, a class that is constructed from its options.
template <std::derived_from<on_policy_rule> Rule, described_options Options>
  requires std::constructible_from<Rule, const Options&>
plugin_algorithm plugin_on_policy(std::string id, std::string help,
                                  std::vector<std::string> defaults = {}) {
  return detail::plugin_algorithm_with<Options>(
      detail::rule_kind::on_policy, std::move(id), std::move(help), std::move(defaults),
      [](const Options& options) { return std::make_unique<Rule>(options); });
}

}  // namespace troupe
