#pragma once

#include <cstdint>
#include <string>

#include "algorithms/on_policy/ppo/ppo_options.hpp"
#include "algorithms/run/faults_option.hpp"
#include "algorithms/run/idle_options.hpp"
#include "algorithms/run/option_rule.hpp"
#include "algorithms/run/training_config.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

struct rollout_section {
  int n_steps = 2048;     ///< T, steps of each environment in a rollout
  int batch = 1;          ///< rollouts of one update
  int groups = 1;         ///< replicas over which the environments of a rollout are spread
  int workers = 2;        ///< rollouts under way at once in async mode
  int max_staleness = 1;  ///< versions a rollout may be behind the trainer in async mode
};

struct log_section {
  int every_updates = 1;  ///< one row of progress.csv in so many updates
};

/// Where roles run, besides the environments (env.placement). Weights, replay and recorder stay
/// with the program.
struct placement_section {
  std::string policy = "shared";
  std::string trainer = "auto";  ///< a thread where it blocks others, else the pool
};

/// What the configurations of all on-policy algorithms have in common.
struct on_policy_config {
  std::string algo;
  env_section env;
  std::int64_t total_steps = 100'000;  ///< at least; whole rollouts are made
  std::uint64_t seed = 1;
  training_mode mode = training_mode::sync;
  rollout_section rollout;
  network_options policy;
  placement_section placement;
  evaluation_section evaluation;
  checkpoint_section checkpoint;
  log_section log;
  bool deterministic = false;  ///< one thread, virtual time, an order drawn from the seed
  /// What goes wrong on purpose in a deterministic run: a fault_plan as text; empty: nothing.
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

/// Everything that decides a PPO run. Defaults: Stable-Baselines3's.
struct ppo_config : on_policy_config {
  ppo_config() { algo = "ppo"; }

  ppo_options trainer;  ///< its n_steps and network are taken from `rollout` and `policy`

  /// The learner's options, with rollout.n_steps and the network.
  ppo_options learner() const;
};

/// What all on-policy algorithms leave unused.
std::vector<idle_rule> idle_rules_of(const on_policy_config& config);

void describe(options_schema<rollout_section>& s);
void describe(options_schema<log_section>& s);
void describe(options_schema<network_options>& s);
void describe(options_schema<placement_section>& s);
void describe(options_schema<ppo_options>& s);
void describe(options_schema<ppo_config>& s);

/// The fields of an update rule's Options that say how many learners share it.
template <class Options>
void describe_ranks(options_schema<Options>& s) {
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
  s.field("deterministic", &on_policy_config::deterministic)
      .help(
          "one thread, virtual time, an order drawn from the seed: the same seed gives the same "
          "weights");
  describe_faults(s);
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
