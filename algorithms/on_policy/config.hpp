#pragma once
// What the configurations of PPO, A2C and REINFORCE have in common. `describe` of each struct has
// the unit, the range and the meaning of its options.

#include <cstdint>
#include <string>

#include "actors/policy/network.hpp"
#include "algorithms/learner/annealing.hpp"
#include "algorithms/run/config.hpp"
#include "algorithms/run/option_rules.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

/// What the options of every on-policy update rule begin with; each has defaults of its own.
struct on_policy_options {
  double lr = 3e-4;
  annealing lr_schedule = annealing::constant;
  double gamma = 0.99;
  double ent_coef = 0.0;
  double vf_coef = 0.5;
  double max_grad_norm = 0.5;
  double optimizer_eps = 1e-5;
  double importance_cap = 2.0;
  int max_skipped_steps = 10;
  int replicas = 1;
  double rank_timeout = 30.0;
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

/// Where roles run, besides the environments (env.placement). Weights, replay and recorder stay
/// with the program.
struct placement_section {
  std::string policy = "shared";
  std::string trainer = "auto";
};

/// What the configurations of all on-policy algorithms begin with.
struct on_policy_config {
  std::string algo;
  env_section env;
  std::int64_t total_steps = 100'000;
  std::uint64_t seed = 1;
  training_mode mode = training_mode::sync;
  rollout_section rollout;
  network_options policy;
  placement_section placement;
  evaluation_section evaluation;
  checkpoint_section checkpoint;
  log_section log;
  bool deterministic = false;
  std::string faults;

  /// The network, which normalises its own observations.
  network_options network() const;
  /// Environment steps of one update.
  std::int64_t steps_of_update() const;
  /// Updates until total_steps are reached.
  std::int64_t updates() const;
  /// `faults`, read. Throws fault_plan_error.
  fault_plan plan() const;
};

/// What all on-policy algorithms leave unused.
std::vector<idle_rule> idle_rules_of(const on_policy_config& config);

void describe(options_schema<rollout_section>& s);
void describe(options_schema<log_section>& s);
void describe(options_schema<network_options>& s);
void describe(options_schema<placement_section>& s);

/// The fields of on_policy_options as those of an Options that is derived from it, but
/// optimizer_eps, which a configuration calls `eps`.
template <class Options>
void describe_update_rule(options_schema<Options>& s, const char* eps,
                          std::vector<std::string> eps_elsewhere = {}) {
  describe_lr(s);
  describe_gamma(s);
  s.field("ent_coef", &Options::ent_coef)
      .also_known_as({"entropy_coef"})
      .at_least(0)
      .help("weight of the entropy bonus");
  s.field("vf_coef", &Options::vf_coef)
      .also_known_as({"value_coef"})
      .at_least(0)
      .help("weight of the value loss");
  s.field("max_grad_norm", &Options::max_grad_norm)
      .at_least(0)
      .help("of all parameters together; 0: no clipping");
  s.field(eps, &Options::optimizer_eps)
      .also_known_as(std::move(eps_elsewhere))
      .above(0)
      .help("the optimiser's epsilon");
  s.field("importance_cap", &Options::importance_cap)
      .above(0)
      .help("largest importance weight of stale data");
  describe_skips(s);
  s.field("replicas", &Options::replicas)
      .at_least(1)
      .at_most(64)
      .help(
          "learners that share each minibatch's rows; where one is lost, a run with checkpoints "
          "goes on from the last");
  s.field("rank_timeout", &Options::rank_timeout)
      .at_least(0.001)
      .at_most(86'400)
      .unit("s")
      .help("that one of several replicas waits for the others before the step fails");
}

/// The fields of on_policy_config as those of a Config that is derived from it.
template <class Config>
void describe_on_policy(options_schema<Config>& s) {
  s.field("algo", &on_policy_config::algo).one_of({Config().algo}).help("what this configures");
  s.field("env", &on_policy_config::env).help("what is learned on");
  s.field("total_steps", &on_policy_config::total_steps)
      .also_known_as({"total_timesteps", "steps"})
      .at_least(1)
      .at_most(1e15)
      .unit("environment steps")
      .help("at least; whole rollouts are made");
  s.field("seed", &on_policy_config::seed)
      .help("of weights, actions, minibatches and environments");
  s.field("mode", &on_policy_config::mode).help("how rollouts and training are composed");
  s.field("rollout", &on_policy_config::rollout).help("how experience is made");
  s.field("policy", &on_policy_config::policy).help("the network");
  s.field("placement", &on_policy_config::placement).help("where roles run");
  s.field("evaluation", &on_policy_config::evaluation)
      .help("deterministic episodes, nothing stored");
  s.field("checkpoint", &on_policy_config::checkpoint).help("what a run is resumed from");
  s.field("log", &on_policy_config::log).help("what is written down");
  describe_deterministic(s);
  option_rule(
      s, "rollout.groups",
      [](const Config& c) { return "a divisor of env.n_envs, " + std::to_string(c.env.n_envs); },
      [](const Config& c) { return c.env.n_envs % c.rollout.groups == 0; });
  option_rule(
      s, "rollout.n_steps",
      [](const Config& c) {
        return "at most 2^28 environment steps an update, with env.n_envs of " +
               std::to_string(c.env.n_envs) + " and rollout.batch of " +
               std::to_string(c.rollout.batch);
      },
      [](const Config& c) { return c.steps_of_update() <= std::int64_t{1} << 28; });
}

/// The update rule's section of a Config that is derived from on_policy_config.
template <class Config>
void describe_trainer(options_schema<Config>& s) {
  s.field("trainer", &Config::trainer).help("the update rule");
  option_rule(
      s, "trainer.replicas",
      [](const Config&) {
        return "1 where deterministic is true, as several are sockets between threads";
      },
      [](const Config& c) { return c.trainer.replicas == 1 || !c.deterministic; });
  option_rule(
      s, "placement.trainer",
      [](const Config& c) {
        return "auto, thread or process with trainer.replicas of " +
               std::to_string(c.trainer.replicas) + ", which wait for each other, on one machine";
      },
      [](const Config& c) {
        const auto& where = c.placement.trainer;
        return c.trainer.replicas == 1 || where == "auto" || where == "thread" ||
               where == "process";
      });
  option_rule(
      s, "trainer.replicas",
      [](const Config& c) {
        return "at most " + std::to_string(std::int64_t{c.env.n_envs} * c.rollout.batch) +
               ", env.n_envs times rollout.batch, of which each takes a share";
      },
      [](const Config& c) {
        return c.trainer.replicas <= std::int64_t{c.env.n_envs} * c.rollout.batch;
      });
}

}  // namespace troupe
