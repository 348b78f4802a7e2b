// Two algorithms of your own behind troupe's commands: PPO with a penalty on the KL divergence in
// place of clipping, and TD3 whose targets take a mean of the smallest and the largest critic.
//
// The roles are those of every on-policy and every off-policy algorithm. This program has only the
// differences: options, a loss and a rule for the targets.
//
//   ./own_algorithm config kl_ppo
//   ./own_algorithm train --algo kl_ppo -n 50000 trainer.kl_coef=0.5
//   ./own_algorithm train --algo mixed_td3 -n 10000 smallest_weight=0.9
//
// `kl_coef` and `smallest_weight` are options like any other: they are checked, listed by `config`
// and stored with the run.

#include "actors/torch/torch.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/off_policy/td3/td3.hpp"
#include "algorithms/on_policy/on_policy.hpp"
#include "algorithms/program/main.hpp"

// readme: kl_ppo
struct kl_ppo_options : troupe::on_policy_options {
  double kl_coef = 1.0;
};

struct kl_ppo_config : troupe::on_policy_config {
  kl_ppo_config() { algo = "kl_ppo"; }

  kl_ppo_options trainer;
};

void describe(troupe::options_schema<kl_ppo_options>& s) {
  troupe::describe_update_rule(s, "adam_eps");
  troupe::describe_advantages(s);
  troupe::describe_epochs(s);
  s.field("kl_coef", &kl_ppo_options::kl_coef).at_least(0).help("The weight of the KL penalty.");
}

void describe(troupe::options_schema<kl_ppo_config>& s) {
  troupe::describe_on_policy(s);
  troupe::describe_trainer(s);
}

/// Schulman et al. 2017, https://arxiv.org/abs/1707.06347, equation 8. The divergence is estimated
/// by (r - 1) - log r, r the ratio of probabilities (http://joschu.net/blog/kl-approx.html).
troupe::ppo_loss_result kl_penalised_loss(const troupe::ppo_loss_inputs& in,
                                          const kl_ppo_options& options) {
  const auto log_ratio = in.log_prob - in.behaviour_log_prob;
  const auto ratio = exp(log_ratio);
  const auto kl = mean(ratio - 1 - log_ratio);
  const auto policy_loss = -mean(ratio * in.advantage);
  const auto value_loss = mean(square(in.returns - in.value));
  const auto entropy_loss = -mean(in.entropy);
  const auto loss = policy_loss + options.kl_coef * kl + options.vf_coef * value_loss +
                    options.ent_coef * entropy_loss;
  return {loss,
          {.loss = number(loss),
           .policy_gradient_loss = number(policy_loss),
           .value_loss = number(value_loss),
           .entropy_loss = number(entropy_loss),
           .approx_kl = number(kl)}};
}

troupe::on_policy_learner make_learner(const troupe::network_shape& shape,
                                       const kl_ppo_config& config) {
  troupe::on_policy_loss loss{
      .name = "kl_ppo",
      .function = [options = config.trainer](const troupe::ppo_loss_inputs& in, double) {
        return kl_penalised_loss(in, options);
      }};
  return {shape, troupe::learner_options(config), std::move(loss), config.seed};
}

troupe::algorithm algorithm_with(const kl_ppo_config& config) {
  return troupe::on_policy_algorithm(config);
}
// readme: end

// readme: mixed_td3
struct mixed_td3_config : troupe::td3_config {
  mixed_td3_config() { algo = "mixed_td3"; }

  double smallest_weight = 0.75;
};

void describe(troupe::options_schema<mixed_td3_config>& s) {
  troupe::describe_td3(s);
  s.field("smallest_weight", &mixed_td3_config::smallest_weight)
      .at_least(0)
      .at_most(1)
      .help("The share of the smallest critic in a target. The largest has the rest.");
}

/// Fujimoto et al. 2019, https://arxiv.org/abs/1812.02900, equation 10.
troupe::algorithm algorithm_with(const mixed_td3_config& config) {
  const auto share = static_cast<float>(config.smallest_weight);
  return troupe::td3_algorithm(config, [share](troupe::variable q, const auto&) {
    return share * row_min(q) + (1.0f - share) * row_max(q);
  });
}
// readme: end

// readme: own_algorithms
int main(int argc, char** argv) {
  return troupe::main(argc, argv,
                      {.help = "Trains by two algorithms of its own.",
                       .algorithms = {troupe::algorithm_of<kl_ppo_config>(
                                          "kl_ppo", "PPO with a KL penalty in place of clipping"),
                                      troupe::algorithm_of<mixed_td3_config>(
                                          "mixed_td3", "TD3 with a mean of critics as target")}});
}
// readme: end
