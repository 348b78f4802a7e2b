#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/plugin_on_policy.hpp"

#include <fmt/format.h>

#include <utility>

#include "algorithms/on_policy/on_policy.hpp"
#include "algorithms/run/rule_in_plugin.hpp"

namespace troupe {

namespace {

using codec = wire_codec<configured_learner<plugin_on_policy_config, rollout_learner>>;

std::shared_ptr<on_policy_rule> rule_of(const plugin_on_policy_config& config) {
  return detail::make_rule_in_plugin<on_policy_rule>(config.algo, config.rule.text);
}

/// Returns the loss of a rule. The name of a plug-in's algorithm outlives every learner.
on_policy_loss loss_of(const plugin_on_policy_config& config,
                       const std::shared_ptr<on_policy_rule>& rule) {
  const auto& options = config.trainer;
  const loss_settings settings{.ent_coef = options.ent_coef,
                               .vf_coef = options.baseline ? options.vf_coef : 0.0,
                               .importance_cap = options.importance_cap};
  const auto function = [rule, settings, name = config.algo](const ppo_loss_inputs& in,
                                                             double progress_remaining) {
    auto now = settings;
    now.progress_remaining = progress_remaining;
    auto made = detail::called_in_plugin(name, [&] { return rule->loss(in, now); });
    const auto& loss = made.loss;
    if (!loss.is_defined() || loss.rows() != 1 || loss.columns() != 1) {
      throw std::invalid_argument(fmt::format("{}: expected a loss [1, 1], got [{}, {}]", name,
                                              loss.rows(), loss.columns()));
    }
    return made;
  };
  return {.name = plugin_algorithm_of(config.algo).id.c_str(), .function = function};
}

class plugin_learner final : public on_policy_learner {
 public:
  plugin_learner(const network_shape& shape, const plugin_on_policy_config& config,
                 std::shared_ptr<on_policy_rule> rule)
      : on_policy_learner(shape, learner_options(config), loss_of(config, rule), config.seed),
        plugin_(config.algo),
        rule_(std::move(rule)) {}

  void visit_state(state_visitor& visit) override {
    on_policy_learner::visit_state(visit);
    detail::visit_rule(plugin_, visit, *rule_);
  }

 private:
  std::string plugin_;
  std::shared_ptr<on_policy_rule> rule_;
};

/// Throws config_error if several ranks would each have a state of the rule.
void refuse_several_states(const plugin_on_policy_config& config) {
  if (config.trainer.replicas == 1) return;
  const auto state = detail::state_names(config.algo, *rule_of(config));
  if (state.empty()) return;
  throw config_error(
      "/trainer/replicas",
      fmt::format("expected 1 with {}, whose rule has a state ({}) that each replica would have "
                  "another one of, got {}",
                  config.algo, state, config.trainer.replicas));
}

std::string text_of(const codec::function& of) {
  auto config = of.config;
  config.algo = plugin_on_policy_config{}.algo;
  return to_json(config).dump();
}

}  // namespace

void describe(options_schema<plugin_on_policy_config>& s) {
  describe_on_policy(s);
  describe_trainer(s);
  s.field("rule", &plugin_on_policy_config::rule).help("The options of the plug-in's rule.");
}

std::unique_ptr<on_policy_learner> make_learner(const network_shape& shape,
                                                const plugin_on_policy_config& config) {
  return std::make_unique<plugin_learner>(shape, config, rule_of(config));
}

algorithm algorithm_with(const plugin_on_policy_config& config) {
  auto made = on_policy_algorithm(config);
  made.check = [check = std::move(made.check), config] {
    refuse_several_states(config);
    check();
  };
  return made;
}

std::size_t codec::size(const function& of) {
  return wire_size(of.shape) + wire_size(of.config.algo) + wire_size(text_of(of));
}

void codec::write(const function& of, wire_writer& to) {
  to.write(of.shape);
  to.write(of.config.algo);
  to.write(text_of(of));
}

codec::function codec::read(wire_reader& from) {
  const auto shape = from.read<network_shape>();
  const auto name = from.read<std::string>();
  auto config =
      parse_config<plugin_on_policy_config>(nlohmann::json::parse(from.read<std::string>()));
  config.algo = name;
  return {shape, std::move(config)};
}

}  // namespace troupe
