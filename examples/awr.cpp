// An update rule in a plug-in, for the command `troupe`: advantage-weighted regression on the
// rollouts of on-policy algorithms (Peng et al. 2019, https://arxiv.org/abs/1910.00177). The roles
// are those of every on-policy algorithm. This file has only the differences: options and a loss.
//
//   troupe config ./awr.so
//   troupe train --algo ./awr.so -n 50000 rule.beta=0.5
//
// `rule.beta` and `rule.weight_max` are options like any other.

// readme: awr
#include "actors/gradients/graph.hpp"
#include "algorithms/run/plugin_algorithm.hpp"

struct awr_options {
  double beta = 1.0;
  double weight_max = 20.0;
};

void describe(troupe::options_schema<awr_options>& s) {
  s.field("beta", &awr_options::beta).above(0).help("The temperature of the weights.");
  s.field("weight_max", &awr_options::weight_max).above(0).help("The largest weight of a row.");
}

/// Actions are imitated with the weight exp(advantage / beta) (algorithm 1).
troupe::ppo_loss_result awr_loss(const troupe::ppo_loss_inputs& in, const awr_options& options,
                                 const troupe::loss_settings& settings) {
  const auto scaled = static_cast<float>(1 / options.beta) * in.advantage;
  const auto weight = clamp(exp(scaled), 0, static_cast<float>(options.weight_max));
  const auto policy_loss = -mean(weight * in.log_prob);
  const auto value_loss = mean(square(in.returns - in.value));
  const auto entropy_loss = -mean(in.entropy);
  const auto loss = policy_loss + static_cast<float>(settings.vf_coef) * value_loss +
                    static_cast<float>(settings.ent_coef) * entropy_loss;
  const auto log_ratio = in.log_prob - in.behaviour_log_prob;
  return {loss,
          {.loss = number(loss),
           .policy_gradient_loss = number(policy_loss),
           .value_loss = number(value_loss),
           .entropy_loss = number(entropy_loss),
           .approx_kl = number(mean(exp(log_ratio) - 1 - log_ratio))}};
}

TROUPE_PLUGIN(troupe::plugin_on_policy("awr", "advantage-weighted regression", awr_loss,
                                       {"rollout.n_steps=256", "trainer.n_epochs=4"}))
// readme: end
