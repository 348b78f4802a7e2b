#include "algorithms/off_policy/td3/plugin_td3.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "algorithms/off_policy/td3/plugin_target.hpp"
#include "algorithms/off_policy/td3/td3.hpp"
#include "algorithms/run/rule_in_plugin.hpp"

namespace troupe {

namespace {

class plugin_td3_learner final : public td3_learner {
 public:
  /// `name` is that of the algorithm in the plug-in, and `rule` has the options as JSON.
  plugin_td3_learner(const network_shape& shape, const td3_options& options, std::uint64_t seed,
                     std::string name, const std::string& rule)
      : td3_learner(shape, options, seed),
        plugin_(std::move(name)),
        rule_(detail::make_rule_in_plugin<td3_rule>(plugin_, rule)) {}

  void visit_state(state_visitor& visit) override {
    td3_learner::visit_state(visit);
    detail::visit_rule(plugin_, visit, *rule_);
  }

 protected:
  variable next_value(variable q, const transition_batch& batch) override {
    const auto made =
        detail::called_in_plugin(plugin_, [&] { return rule_->next_value(q, batch); });
    if (!made.is_defined() || made.rows() != q.rows() || made.columns() != 1) {
      throw std::invalid_argument(fmt::format("{}: expected values [{}, 1], got [{}, {}]", plugin_,
                                              q.rows(), made.rows(), made.columns()));
    }
    return made;
  }

 private:
  std::string plugin_;
  std::shared_ptr<td3_rule> rule_;
};

}  // namespace

void describe(options_schema<plugin_td3_config>& s) {
  describe_td3(s);
  s.field("rule", &plugin_td3_config::rule).help("The options of the plug-in's rule.");
}

algorithm algorithm_with(const plugin_td3_config& config) {
  return td3_algorithm<plugin_td3_learner>(config, config.algo, config.rule.text);
}

}  // namespace troupe
