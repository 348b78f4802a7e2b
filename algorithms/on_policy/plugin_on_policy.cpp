#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/plugin_on_policy.hpp"

#include <fmt/format.h>

#include <utility>

#include "actors/worlds/plugin_loader.hpp"
#include "algorithms/on_policy/on_policy.hpp"
#include "algorithms/run/plugin_algorithm.hpp"

namespace troupe {

namespace {

using codec = wire_codec<configured_learner<plugin_on_policy_config, on_policy_learner>>;

/// The rule in a part of a plug-in. Programs and plug-ins of one build have the same type of it.
const detail::plugin_rule& rule_in(const plugin_algorithm& part) {
  return *static_cast<const detail::plugin_rule*>(part.rule.get());
}

/// Returns what `call`, a call of code in the plug-in, returns. Throws std::invalid_argument that
/// names the plug-in for whatever it throws.
template <class Call>
auto called(const std::string& name, const Call& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    throw std::invalid_argument(fmt::format("{}: the plug-in threw: {}", name, error.what()));
  }
}

/// Reads the options of a rule. Throws config_error.
detail::rule_options_read options_of(const std::string& name, const detail::plugin_rule& rule,
                                     const std::string& json) {
  auto read = called(name, [&] { return rule.read(json); });
  if (read.refused) throw config_error(read.pointer, read.message, read.fault);
  return read;
}

/// Returns the rule of a configuration.
std::shared_ptr<on_policy_rule> rule_of(const plugin_on_policy_config& config) {
  const auto& rule = rule_in(plugin_algorithm_of(config.algo));
  const auto options = options_of(config.algo, rule, config.rule.text).json;
  return called(config.algo, [&] { return std::shared_ptr(rule.make(options)); });
}

/// Shows a rule's state as a part of its learner's.
class shown_state final : public rule_state {
 public:
  explicit shown_state(state_visitor& to) : to_(to) {}
  void operator()(std::string_view name, std::span<float> numbers) override { to_(name, numbers); }

 private:
  state_visitor& to_;
};

class counted_state final : public rule_state {
 public:
  void operator()(std::string_view name, std::span<float>) override {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  std::string names;
};

/// Returns the loss of a rule. The name must outlive the learner, as that of a plug-in does.
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
    auto made = called(name, [&] { return rule->loss(in, now); });
    if (!made.loss.is_defined() || made.loss.rows() != 1 || made.loss.columns() != 1) {
      throw std::invalid_argument(fmt::format("{}: expected a loss [1, 1], got [{}, {}]", name,
                                              made.loss.rows(), made.loss.columns()));
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
        rule_(std::move(rule)) {}

  void visit_state(state_visitor& visit) override {
    on_policy_learner::visit_state(visit);
    visit.within("rule", [&] {
      shown_state shown(visit);
      rule_->visit_state(shown);
    });
  }

 private:
  std::shared_ptr<on_policy_rule> rule_;
};

/// Throws config_error if several ranks would each have a state of the rule.
void refuse_several_states(const plugin_on_policy_config& config) {
  if (config.trainer.replicas == 1) return;
  counted_state counted;
  const auto rule = rule_of(config);
  called(config.algo, [&] { rule->visit_state(counted); });
  if (counted.names.empty()) return;
  throw config_error(
      "/trainer/replicas",
      fmt::format("expected 1 with {}, whose rule has a state ({}) that each replica would have "
                  "another one of, got {}",
                  config.algo, counted.names, config.trainer.replicas));
}

/// The configuration with the values that the plug-in sets.
plugin_on_policy_config defaults_of(const std::string& name, const detail::plugin_rule& rule) {
  try {
    auto document = nlohmann::json::object();
    for (const auto& text : rule.defaults) apply_override(document, text);
    auto config = parse_config<plugin_on_policy_config>(document);
    config.rule.text = options_of(name, rule, config.rule.text).json;
    return config;
  } catch (const config_error& error) {
    throw std::invalid_argument(fmt::format("{}: its default values: {}", name, error.what()));
  }
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

named_algorithm plugin_on_policy_algorithm(const std::string& name) {
  const auto& part = plugin_algorithm_of(name);
  const auto& rule = rule_in(part);
  auto made = algorithm_of(name, part.help, defaults_of(name, rule));
  made.schema = [schema = std::move(made.schema), &rule, name] {
    auto all = schema();
    const auto own = called(name, [&] { return rule.schema(); });
    all["properties"]["rule"].update(nlohmann::json::parse(own));
    return all;
  };
  made.configure = [configure = std::move(made.configure), &rule, name](
                       nlohmann::json document, const run_permissions& may) {
    std::vector<idle_option> idle;
    if (document.is_object() && document.contains("rule") && document["rule"].is_object()) {
      auto read = options_of(name, rule, document["rule"].dump());
      document["rule"] = nlohmann::json::parse(read.json);
      idle = std::move(read.idle);
    }
    auto what = configure(document, may);
    for (auto& each : idle) {
      each.name = "rule." + each.name;
      what.settings.idle.push_back(std::move(each));
    }
    return what;
  };
  return made;
}

// ---- codec -------------------------------------------------------------------------------------

namespace {

std::string text_of(const codec::function& of) {
  auto config = of.config;
  config.algo = plugin_on_policy_config{}.algo;
  return to_json(config).dump();
}

}  // namespace

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
