#include "algorithms/run/rule_in_plugin.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "actors/checkpoint/state.hpp"

namespace troupe::detail {

namespace {

class shown_state final : public rule_state {
 public:
  explicit shown_state(state_visitor& to) : to_(to) {}
  void operator()(std::string_view name, std::span<float> numbers) override { to_(name, numbers); }

 private:
  state_visitor& to_;
};

class listed_state final : public rule_state {
 public:
  void operator()(std::string_view name, std::span<float>) override {
    names += (names.empty() ? "" : ", ") + std::string(name);
    ++parts;
  }
  std::string names;
  std::size_t parts = 0;
};

}  // namespace

const plugin_rule& rule_in_plugin(const std::string& name) {
  // Programs and plug-ins of one build have the same type of it.
  return *static_cast<const plugin_rule*>(plugin_algorithm_of(name).rule.get());
}

rule_options_read options_in_plugin(const std::string& name, const std::string& json) {
  const auto& rule = rule_in_plugin(name);
  auto read = called_in_plugin(name, [&] { return rule.read(json); });
  if (read.refused) throw config_error(read.pointer, read.message, read.fault);
  return read;
}

void visit_rule(const std::string& name, state_visitor& visit, update_rule& rule) try {
  listed_state listed;
  rule.visit_state(listed);
  // As many numbers as the state has parts. A state with more of them than the rule has is refused.
  std::vector<float> parts(listed.parts);
  visit.within("rule", [&] {
    visit("parts", parts);
    shown_state shown(visit);
    rule.visit_state(shown);
  });
} catch (const state_error& error) {
  throw state_error(
      fmt::format("{}; the state is that of another rule than {}", error.what(), name));
}

std::string state_names(const std::string& name, update_rule& rule) {
  listed_state listed;
  called_in_plugin(name, [&] { rule.visit_state(listed); });
  return listed.names;
}

named_algorithm with_rule_options(const std::string& name, named_algorithm algorithm) {
  algorithm.schema = [schema = std::move(algorithm.schema), name] {
    auto all = schema();
    const auto own = called_in_plugin(name, [&] { return rule_in_plugin(name).schema(); });
    all["properties"]["rule"].update(nlohmann::json::parse(own));
    return all;
  };
  algorithm.configure = [configure = std::move(algorithm.configure), name](
                            nlohmann::json document, const run_permissions& may) {
    std::vector<idle_option> idle;
    if (document.is_object() && document.contains("rule") && document["rule"].is_object()) {
      auto read = options_in_plugin(name, document["rule"].dump());
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
  return algorithm;
}

}  // namespace troupe::detail
