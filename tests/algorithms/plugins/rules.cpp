#include <algorithm>
#include <stdexcept>

#include "algorithms/off_policy/td3/plugin_target.hpp"
#include "tests/algorithms/plugins/scaled_rule.hpp"

namespace {

struct no_options {};
void describe(troupe::options_schema<no_options>&) {}

troupe::ppo_loss_result plain(const troupe::ppo_loss_inputs& in, const no_options&,
                              const troupe::loss_settings& settings) {
  return result_of(in, in.advantage, settings);
}

troupe::ppo_loss_result fading(const troupe::ppo_loss_inputs& in, const no_options&,
                               const troupe::loss_settings& settings) {
  return {
      static_cast<float>(settings.progress_remaining) * result_of(in, in.advantage, settings).loss,
      {}};
}

troupe::ppo_loss_result throws(const troupe::ppo_loss_inputs&, const no_options&,
                               const troupe::loss_settings&) {
  throw std::runtime_error("the rule's own error");
}

troupe::ppo_loss_result a_column(const troupe::ppo_loss_inputs& in, const no_options&,
                                 const troupe::loss_settings&) {
  return {in.log_prob, {}};
}

struct mixed_options {
  double smallest_weight = 0.75;
};
void describe(troupe::options_schema<mixed_options>& s) {
  s.field("smallest_weight", &mixed_options::smallest_weight).at_least(0).at_most(1);
}

troupe::variable mixed(troupe::variable q, const troupe::transition_batch&,
                       const mixed_options& options) {
  const auto share = static_cast<float>(options.smallest_weight);
  return share * row_min(q) + (1.0f - share) * row_max(q);
}

troupe::variable all_critics(troupe::variable q, const troupe::transition_batch&,
                             const no_options&) {
  return q;
}

/// Targets within the rewards that it has seen.
class seen_rule final : public troupe::td3_rule {
 public:
  explicit seen_rule(const no_options&) {}

  troupe::variable next_value(troupe::variable q, const troupe::transition_batch& batch) override {
    for (const float reward : batch.reward) least_[0] = std::min(least_[0], reward);
    return clamp(row_min(q), least_[0], 0);
  }
  void visit_state(troupe::rule_state& visit) override { visit("least", least_); }

 private:
  std::vector<float> least_ = {0.0f};
};

}  // namespace

TROUPE_PLUGIN(troupe::plugin_on_policy("plain", "the policy gradient", plain,
                                       {"rollout.n_steps=64", "trainer.n_epochs=1"}),
              troupe::plugin_on_policy<scaled_rule<1>, scaled_options>("scaled",
                                                                       "scaled advantages"),
              troupe::plugin_on_policy("fading", "less and less of it", fading),
              troupe::plugin_on_policy("throws", "a rule that throws", throws),
              troupe::plugin_on_policy("a_column", "a loss of several numbers", a_column),
              troupe::plugin_on_policy("bad_defaults", "an option that is not there", plain,
                                       {"trainer.lrr=1"}),
              troupe::plugin_td3("mixed", "a mean of critics", mixed, {"trainer.n_critics=3"}),
              troupe::plugin_td3("all_critics", "values of all critics", all_critics),
              troupe::plugin_td3<seen_rule, no_options>("seen", "targets within the rewards"))
