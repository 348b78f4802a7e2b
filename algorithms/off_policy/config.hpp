#pragma once
// What the configurations of DQN, SAC, TD3 and DDPG have in common. `describe` of each struct has
// the unit, the range and the meaning of its options. Defaults: Stable-Baselines3's.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/networks/network.hpp"
#include "actors/replay/transition_priorities.hpp"
#include "algorithms/learner/annealing.hpp"
#include "algorithms/off_policy/exploration.hpp"
#include "algorithms/run/config.hpp"
#include "algorithms/run/option_rules.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

/// What the options of every off-policy update rule begin with; each has defaults of its own. The
/// learner leaves batch_size and gamma to its trainer.
struct off_policy_options {
  double lr = 1e-3;
  annealing lr_schedule = annealing::constant;
  int batch_size = 256;
  double gamma = 0.99;
  double tau = 0.005;
  double adam_eps = 1e-8;
  int max_skipped_steps = 10;
  gradient_backend backend = gradient_backend::automatic;
  network_options network = {.hidden_activation = activation::relu, .ortho_init = false};
};

struct collection_section {
  std::int64_t learning_starts = 100;
  int train_freq = 1;
  int gradient_steps = 1;
  int workers = 1;
  int max_staleness = 1;
};

struct ring_section {
  std::int64_t capacity = 1'000'000;
  std::int64_t max_bytes = std::int64_t{4} << 30;
  int n_step = 1;
  std::optional<priority_options> prioritised;
};

/// The same for actor and critics. SAC, TD3 and DDPG refuse convolutions, and another device than
/// the CPU.
struct hidden_section {
  network_body body = network_body::automatic;
  cnn_options cnn;
  gradient_backend backend = gradient_backend::automatic;
  std::string device = "cpu";
  std::vector<int> hidden = {256, 256};
  troupe::activation activation = activation::relu;

  /// PyTorch's initial weights, as Stable-Baselines3 has them off-policy.
  network_options options(network_kind kind) const;
};

struct episode_log_section {
  int episodes = 4;
};

/// The part of every off-policy algorithm's configuration that decides how it is run.
struct off_policy_config {
  std::string algo;  ///< "dqn"; of a derived configuration there is but one
  env_section env;
  std::int64_t total_steps = 100'000;
  std::uint64_t seed = 1;
  training_mode mode = training_mode::sync;
  collection_section collection;
  ring_section replay;
  evaluation_section evaluation;
  checkpoint_section checkpoint;
  episode_log_section log;
  bool deterministic = false;
  std::string faults;

  /// Environment steps of one collection.
  std::int64_t steps_of_collection() const;
  /// Collections before the first update: training begins after more than learning_starts steps.
  std::int64_t warm_up() const;
  /// Updates until total_steps are reached.
  std::int64_t updates() const;
  /// Gradient steps of one update.
  std::int64_t gradient_steps() const;
};

/// The configuration of an algorithm that trains as `Options`, an off_policy_options, say. Policy:
/// hidden_section, or one that is derived from it with options of its own.
template <class Options, class Policy = hidden_section>
struct off_policy_config_with : off_policy_config {
  Options trainer;  ///< its network is taken from `policy`
  Policy policy;
};

/// What all of them leave unused.
std::vector<idle_rule> idle_rules_of(const off_policy_config& config);

void describe(options_schema<collection_section>& s);
void describe(options_schema<priority_options>& s);
void describe(options_schema<ring_section>& s);
void describe(options_schema<hidden_section>& s);
/// The fields of hidden_section as those of a Section that is derived from it.
template <class Section>
void describe_hidden(options_schema<Section>& s) {
  describe_network(s, &hidden_section::body, &hidden_section::cnn, &hidden_section::backend,
                   &hidden_section::device);
  s.field("hidden", &hidden_section::hidden)
      .items(0, 8)
      .at_least(1)
      .at_most(16384)
      .help("widths of the hidden layers, the same for all networks");
  s.field("activation", &hidden_section::activation).help("between the layers");
}
void describe(options_schema<episode_log_section>& s);
void describe(options_schema<epsilon_schedule>& s);
void describe(enum_schema<noise_kind>& s);
void describe(options_schema<action_noise_options>& s);

/// The fields of off_policy_options as those of an Options that is derived from it.
template <class Options>
void describe_training(options_schema<Options>& s) {
  describe_lr(s);
  describe_gamma(s);
  s.field("batch_size", &Options::batch_size)
      .at_least(1)
      .at_most(16'777'216)
      .unit("rows")
      .help("of a gradient step");
  s.field("tau", &Options::tau)
      .above(0)
      .at_most(1)
      .help("share of the new weights in an update of the targets; 1: a copy");
  s.field("adam_eps", &Options::adam_eps).above(0).help("Adam's epsilon");
  describe_skips(s);
}

/// The fields of every off_policy_config_with, as those of a Config that is derived from one.
template <class Config>
void describe_off_policy(options_schema<Config>& s) {
  s.field("algo", &off_policy_config::algo).one_of({Config().algo}).help("what this configures");
  s.field("env", &off_policy_config::env).help("what is learned on");
  s.field("total_steps", &off_policy_config::total_steps)
      .at_least(1)
      .at_most(1e15)
      .unit("environment steps")
      .help("at least; whole collections are made");
  s.field("seed", &off_policy_config::seed)
      .help("of weights, actions, minibatches and environments");
  s.field("mode", &off_policy_config::mode).help("how collections and training are composed");
  s.field("collection", &off_policy_config::collection).help("how experience is made");
  s.field("replay", &off_policy_config::replay).help("what is trained on");
  s.field("evaluation", &off_policy_config::evaluation)
      .help("deterministic episodes, nothing stored");
  s.field("checkpoint", &off_policy_config::checkpoint).help("what a run is resumed from");
  s.field("log", &off_policy_config::log).help("rows of progress.csv");
  s.field("trainer", &Config::trainer).help("the update rule");
  s.field("policy", &Config::policy).help("the networks");
  describe_deterministic(s);
  option_rule(
      s, "replay.capacity",
      [](const Config& c) {
        return "at least trainer.batch_size, " + std::to_string(c.trainer.batch_size);
      },
      [](const Config& c) { return c.replay.capacity >= c.trainer.batch_size; });
  s.rule(
      "total_steps",
      [](const Config& c) {
        return "more than the " + std::to_string(c.warm_up() * c.steps_of_collection()) +
               " environment steps before the first update, see collection.learning_starts";
      },
      [](const Config& c) { return c.updates() > 0; });
}

}  // namespace troupe
