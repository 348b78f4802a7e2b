#include <stdexcept>

#include "tests/algorithms/on_policy/plugins/scaled_rule.hpp"

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

}  // namespace

TROUPE_PLUGIN(troupe::plugin_on_policy("plain", "the policy gradient", plain,
                                       {"rollout.n_steps=64", "trainer.n_epochs=1"}),
              troupe::plugin_on_policy<scaled_rule<1>, scaled_options>("scaled",
                                                                       "scaled advantages"),
              troupe::plugin_on_policy("fading", "less and less of it", fading),
              troupe::plugin_on_policy("throws", "a rule that throws", throws),
              troupe::plugin_on_policy("a_column", "a loss of several numbers", a_column),
              troupe::plugin_on_policy("bad_defaults", "an option that is not there", plain,
                                       {"trainer.lrr=1"}))
