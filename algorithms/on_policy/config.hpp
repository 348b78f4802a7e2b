#pragma once
// The parts that the configurations of PPO, A2C and REINFORCE have in common. The `describe`
// function of each struct has the unit, the range and the meaning of its options.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/networks/network.hpp"
#include "actors/trainer/weight_decay.hpp"
#include "algorithms/learner/annealing.hpp"
#include "algorithms/learner/reward_scaling.hpp"
#include "algorithms/run/config.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

enum class optimizer_kind {
  adam,
  rmsprop,                 ///< PyTorch's RMSprop.
  rmsprop_tensorflow_like  ///< Stable-Baselines3's RMSpropTFLike.
};

/// When the statistics by which values are normalised are updated.
enum class value_norm_update {
  rollout,    ///< Once an update, with all returns.
  minibatch,  ///< Before each gradient step, with the returns of its rows.
};

/// The options of an on-policy learner. The options of PPO, A2C and REINFORCE are derived from this
/// struct and have their own defaults. The defaults here are those of Stable-Baselines3's PPO and
/// its MlpPolicy.
struct on_policy_options {
  double lr = 3e-4;
  annealing lr_schedule = annealing::constant;
  int batch_size = 64;
  int n_epochs = 10;
  double gamma = 0.99;
  double gae_lambda = 0.95;
  bool normalize_advantage = true;
  double ent_coef = 0.0;
  double vf_coef = 0.5;
  double max_grad_norm = 0.5;
  std::optional<double> target_kl = {};
  double importance_cap = 2.0;
  /// Targets are those of V-trace, in which importance_cap cuts rho and trace_cap cuts c.
  bool vtrace = false;
  double trace_cap = 1.0;
  bool proximal_correction = false;
  int max_skipped_steps = 10;
  bool baseline = true;
  bool whole_episodes = false;
  /// The critic learns returns that are normalised by running statistics, as MAPPO's.
  bool normalize_value = false;
  double value_norm_decay = 0.99;
  value_norm_update value_norm_every = value_norm_update::rollout;
  reward_scaling normalize_reward = reward_scaling::none;
  optimizer_kind optimizer = optimizer_kind::adam;
  double optimizer_eps = 1e-5;
  double weight_decay = 0.0;  ///< Adam's.
  decayed_parameters weight_decay_of = decayed_parameters::all;
  double rmsprop_alpha = 0.99;
  int replicas = 1;
  double rank_timeout = 30.0;
  network_options network = {};  ///< In a run, it comes from the configuration's section `policy`.
};

struct rollout_section {
  int n_steps = 2048;
  int batch = 1;
  int groups = 1;
  int workers = 2;
  int max_staleness = 1;
};

struct log_section {
  int every_updates = 1;
};

/// The placement of the policy and the trainer; env.placement is that of the environments. Weight
/// store, replay and recorder always run in the program itself.
struct placement_section {
  std::string policy = "shared";
  std::string trainer = "auto";
};

/// The base of the configurations of all on-policy algorithms.
struct on_policy_config : run_config {
  rollout_section rollout;
  network_options policy;
  placement_section placement;
  log_section log;

  /// The options of the network, which normalises its observations itself if env.normalize_obs.
  network_options network() const;
  /// The number of environment steps of one update.
  std::int64_t steps_of_update() const;
  /// The number of updates until total_steps are reached.
  std::int64_t updates() const;
  /// The number of environment steps over which schedules run, in whole updates.
  std::int64_t steps_of_schedules() const;
};

void describe(enum_schema<optimizer_kind>& s);
void describe(enum_schema<value_norm_update>& s);
void describe(options_schema<rollout_section>& s);
void describe(options_schema<log_section>& s);
void describe(options_schema<network_options>& s);
void describe(options_schema<placement_section>& s);

/// Describes the fields that every on-policy algorithm offers, for an Options derived from
/// on_policy_options. `eps` is the name of optimizer_eps in the configuration, and `eps_elsewhere`
/// are its names in other libraries.
template <class Options>
void describe_update_rule(options_schema<Options>& s, const char* eps,
                          std::vector<std::string> eps_elsewhere = {}) {
  describe_lr(s);
  describe_gamma(s);
  s.field("ent_coef", &Options::ent_coef)
      .also_known_as({"entropy_coef"})
      .at_least(0)
      .help("The weight of the entropy bonus in the loss.");
  s.field("vf_coef", &Options::vf_coef)
      .also_known_as({"value_coef"})
      .at_least(0)
      .help("The weight of the value loss in the loss.");
  s.field("max_grad_norm", &Options::max_grad_norm)
      .at_least(0)
      .help(
          "The largest norm of the gradient of all parameters together; larger gradients are "
          "scaled down to it. 0 means no clipping.");
  s.field(eps, &Options::optimizer_eps)
      .also_known_as(std::move(eps_elsewhere))
      .above(0)
      .help("The optimiser's epsilon, which is added to the denominator of its step.");
  s.field("importance_cap", &Options::importance_cap)
      .above(0)
      .help("The largest importance weight of stale data; larger weights are cut to it.");
  describe_skips(s);
  s.field("replicas", &Options::replicas)
      .at_least(1)
      .at_most(64)
      .help(
          "The number of learners that share the rows of each minibatch. If one is lost, a run "
          "with checkpoints goes on from the last checkpoint.");
  s.field("rank_timeout", &Options::rank_timeout)
      .at_least(0.001)
      .at_most(86'400)
      .unit("s")
      .has_effect_if("trainer.replicas is above 1", [](const Options& o) { return o.replicas > 1; })
      .help("A step fails if one of several replicas has waited for the others so many seconds.");
}

/// Describes the fields `gae_lambda` and `normalize_advantage`.
template <class Options>
void describe_advantages(options_schema<Options>& s) {
  s.field("gae_lambda", &Options::gae_lambda)
      .also_known_as({"lambda", "lam"})
      .at_least(0)
      .at_most(1)
      .help(
          "The lambda of generalised advantage estimation (Schulman et al. 2016, equation 16); 1 "
          "gives n-step returns.");
  s.field("normalize_advantage", &Options::normalize_advantage)
      .help("If true, advantages are normalised to mean 0 and deviation 1 in each minibatch.");
}

/// Describes the fields of an algorithm that passes over a rollout several times, in minibatches.
template <class Options>
void describe_epochs(options_schema<Options>& s) {
  s.field("batch_size", &Options::batch_size)
      .also_known_as({"minibatch_size"})
      .at_least(2)
      .at_most(1 << 28)
      .unit("rows")
      .help("The number of rows in a minibatch.");
  s.field("n_epochs", &Options::n_epochs)
      .also_known_as({"epochs", "update_epochs"})
      .at_least(1)
      .help("The number of passes over each rollout.");
  s.field("target_kl", &Options::target_kl)
      .above(0)
      .help(
          "An update ends early once the approximate KL divergence exceeds 1.5 times this; null "
          "means never.");
  s.field("proximal_correction", &Options::proximal_correction)
      .help("If true, fresh data is corrected as stale data is, as in decoupled PPO.");
}

/// Describes the fields `optimizer` and `rmsprop_alpha`.
template <class Options>
void describe_optimizer(options_schema<Options>& s) {
  s.field("optimizer", &Options::optimizer)
      .help(
          "The optimiser: adam, PyTorch's rmsprop, or rmsprop_tensorflow_like, which is "
          "Stable-Baselines3's RMSpropTFLike.");
  s.field("rmsprop_alpha", &Options::rmsprop_alpha)
      .at_least(0)
      .below(1)
      .has_effect_if("trainer.optimizer is not adam",
                     [](const Options& o) { return o.optimizer != optimizer_kind::adam; })
      .help("The decay per step of rmsprop's mean of squared gradients.");
}

/// Describes all fields, including those that some configurations don't offer, so that a learner's
/// options can be checked.
void describe(options_schema<on_policy_options>& s);

/// Describes the fields of on_policy_config for a Config derived from it.
template <class Config>
void describe_on_policy(options_schema<Config>& s) {
  describe_run(s, "rollout", "weights, actions, minibatches", "with the likeliest actions", [&] {
    s.field("rollout", &on_policy_config::rollout).help("The size and number of rollouts.");
    describe_async(s, &on_policy_config::rollout, &rollout_section::workers,
                   &rollout_section::max_staleness);
    s.field("policy", &on_policy_config::policy).help("The network of policy and critic.");
    s.field("placement", &on_policy_config::placement)
        .help("The placement of the policy and the trainer.");
  });
  s.option(&on_policy_config::rollout, &rollout_section::groups)
      .must_be(
          [](const Config& c) {
            return "a divisor of env.n_envs, " + std::to_string(c.env.n_envs);
          },
          [](const Config& c) { return c.env.n_envs % c.rollout.groups == 0; });
  s.option(&on_policy_config::rollout, &rollout_section::n_steps)
      .must_be(
          [](const Config& c) {
            return "at most 2^28 environment steps an update, with env.n_envs of " +
                   std::to_string(c.env.n_envs) + " and rollout.batch of " +
                   std::to_string(c.rollout.batch);
          },
          [](const Config& c) { return c.steps_of_update() <= std::int64_t{1} << 28; });
}

/// The options of the learner that a Config configures, including its network.
template <class Config>
on_policy_options learner_options(const Config& config) {
  on_policy_options options = config.trainer;
  options.network = config.network();
  return options;
}

/// The options of a learner whose update is one gradient step on the whole batch.
template <class Config>
on_policy_options whole_batch_options(const Config& config) {
  auto options = learner_options(config);
  // batch_size must be at least 2; a batch of one row is then an incomplete minibatch.
  options.batch_size = static_cast<int>(std::max<std::int64_t>(config.steps_of_update(), 2));
  options.n_epochs = 1;
  return options;
}

/// Describes the section `trainer` of a Config derived from on_policy_config. Its options must
/// include `replicas`, which describe_update_rule describes.
template <class Config>
void describe_trainer(options_schema<Config>& s) {
  s.field("trainer", &Config::trainer).help("The options of the update rule.");
  s.option(&Config::trainer, &on_policy_options::replicas)
      .must_be("1 where deterministic is true, as several are sockets between threads",
               [](const Config& c) { return c.trainer.replicas == 1 || !c.deterministic; });
  s.option(&on_policy_config::placement, &placement_section::trainer)
      .must_be(
          [](const Config& c) {
            return "auto, thread or process with trainer.replicas of " +
                   std::to_string(c.trainer.replicas) +
                   ", which wait for each other, on one machine";
          },
          [](const Config& c) {
            const auto& where = c.placement.trainer;
            return c.trainer.replicas == 1 || where == "auto" || where == "thread" ||
                   where == "process";
          });
  s.option(&Config::trainer, &on_policy_options::replicas)
      .must_be(
          [](const Config& c) {
            return "at most " + std::to_string(std::int64_t{c.env.n_envs} * c.rollout.batch) +
                   ", env.n_envs times rollout.batch, of which each takes a share";
          },
          [](const Config& c) {
            return c.trainer.replicas <= std::int64_t{c.env.n_envs} * c.rollout.batch;
          });
}

}  // namespace troupe
