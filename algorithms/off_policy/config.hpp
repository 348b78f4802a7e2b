#pragma once
// The parts that the configurations of DQN, SAC, TD3 and DDPG have in common. The `describe`
// function of each struct has the unit, the range and the meaning of its options. The defaults are
// Stable-Baselines3's.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/networks/network.hpp"
#include "actors/replay/transition_priorities.hpp"
#include "algorithms/learner/annealing.hpp"
#include "algorithms/learner/learning_options.hpp"
#include "algorithms/off_policy/exploration.hpp"
#include "algorithms/run/config.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

/// The base of the options of every off-policy update rule; each rule has its own defaults. The
/// trainer uses batch_size and gamma; the learner does not read them.
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
  std::optional<std::int64_t> capacity = {};
  std::int64_t max_bytes = std::int64_t{4} << 30;
  int n_step = 1;
  std::optional<priority_options> prioritised = {};

  /// The capacity, if a transition takes so many bytes: the chosen one, else the smaller of
  /// 1,000,000 and what max_bytes holds.
  std::int64_t capacity_for(std::size_t transition_bytes) const;
};

/// The options of the networks.
struct hidden_section {
  network_body body = network_body::automatic;
  cnn_options cnn = {};
  gradient_backend backend = gradient_backend::automatic;
  std::string device = "cpu";
  std::vector<int> hidden = {256, 256};
  std::optional<std::vector<int>> critic_hidden = {};
  std::vector<int> shared_hidden = {};  ///< Always empty; other values are refused with the reason.
  troupe::activation activation = activation::relu;
  bool layer_norm = false;
  std::string encoder = {};

  /// The options of a network of that kind. Its initial weights are PyTorch's defaults, as in
  /// Stable-Baselines3's off-policy algorithms.
  network_options options(network_kind kind) const;
};

struct episode_log_section {
  int episodes = 4;
};

/// The part of every off-policy algorithm's configuration that does not depend on its update rule.
struct off_policy_config : run_config {
  collection_section collection;
  ring_section replay;
  episode_log_section log;

  /// The number of environment steps of one collection.
  std::int64_t steps_of_collection() const;
  /// The number of collections before the one that the first update follows. Training begins after
  /// more than learning_starts steps.
  std::int64_t warm_up() const;
  /// The number of updates until total_steps are reached.
  std::int64_t updates() const;
  /// The number of environment steps over which schedules run, in whole updates.
  std::int64_t steps_of_schedules() const;
  /// The number of gradient steps of one update.
  std::int64_t gradient_steps() const;
};

/// The configuration of an algorithm. Options, derived from off_policy_options, are those of its
/// update rule; Policy is hidden_section or derived from it.
template <class Options, class Policy = hidden_section>
struct off_policy_config_with : off_policy_config {
  Options trainer;  ///< Its member `network` comes from `policy`.
  Policy policy;
};

/// Describes the field `train_freq` of the section `collection`.
template <class Section>
void describe_train_freq(options_schema<Section>& s) {
  s.field("train_freq", &Section::train_freq)
      .at_least(1)
      .at_most(1'048'576)
      .unit("steps")
      .help(
          "The number of steps of each environment between updates; one message asks for all of "
          "them.");
}

/// Describes the fields of the section `collection` that are for async mode.
template <class Section>
void describe_async_collections(options_schema<Section>& s) {
  s.field("workers", &Section::workers)
      .at_least(1)
      .at_most(4096)
      .help("The number of collections under way at once; each has its own environments.");
  s.field("max_staleness", &Section::max_staleness)
      .at_least(0)
      .at_most(1'000'000)
      .unit("updates")
      .help("Collections may be so many updates ahead of the trainer.");
}

void describe(options_schema<collection_section>& s);
void describe(options_schema<priority_options>& s);
void describe(options_schema<ring_section>& s);
void describe(options_schema<hidden_section>& s);
/// Describes the fields of hidden_section for a Section derived from it.
template <class Section>
void describe_hidden(options_schema<Section>& s) {
  describe_network(s, &hidden_section::body, &hidden_section::cnn, &hidden_section::backend,
                   &hidden_section::device);
  s.field("hidden", &hidden_section::hidden)
      .items(0, 8)
      .at_least(1)
      .at_most(16384)
      .help("The widths of the hidden layers.");
  s.field("critic_hidden", &hidden_section::critic_hidden)
      .items(0, 8)
      .at_least(1)
      .at_most(16384)
      .help("The widths of the hidden layers of critics; null means the same as hidden.");
  s.field("shared_hidden", &hidden_section::shared_hidden)
      .also_known_as({"shared_layers", "shared_trunk", "vf_share_layers"})
      .items(0, 8)
      .help("Always [], because off-policy algorithms train each network by a loss of its own.");
  s.rule("shared_hidden",
         "[], because off-policy algorithms train each network by a loss of its own; on-policy "
         "ones share layers",
         [](const Section& o) { return o.shared_hidden.empty(); });
  s.field("activation", &hidden_section::activation)
      .help("The activation function between the layers.");
  describe_layers(s, &hidden_section::layer_norm, &hidden_section::encoder);
}
void describe(options_schema<episode_log_section>& s);
void describe(options_schema<epsilon_schedule>& s);
void describe(enum_schema<noise_kind>& s);
void describe(options_schema<action_noise_options>& s);

/// Describes the fields of off_policy_options for an Options derived from it.
template <class Options>
void describe_training(options_schema<Options>& s) {
  describe_lr(s);
  describe_gamma(s);
  s.field("batch_size", &Options::batch_size)
      .at_least(1)
      .at_most(16'777'216)
      .unit("rows")
      .help("The number of transitions that each gradient step draws from the replay.");
  s.field("tau", &Options::tau)
      .above(0)
      .at_most(1)
      .help(
          "The share of the new weights in an update of the target networks; 1 copies the "
          "weights.");
  s.field("adam_eps", &Options::adam_eps)
      .above(0)
      .help("Adam's epsilon, which is added to the denominator of its step.");
  describe_skips(s);
}

/// Says of an algorithm without critics that policy.critic_hidden changes nothing.
template <class Config>
void describe_no_critic(options_schema<Config>& s) {
  s.option(&Config::policy, &hidden_section::critic_hidden)
      .has_no_effect(Config().algo + " has no critic");
}

/// Describes the fields of off_policy_config_with for a Config derived from one.
template <class Config>
void describe_off_policy(options_schema<Config>& s) {
  describe_run(s, "collection", "weights, actions, minibatches", "without exploration", [&] {
    s.field("collection", &off_policy_config::collection)
        .help("The collection of experience and its ratio to training.");
    describe_async(s, &off_policy_config::collection, &collection_section::workers,
                   &collection_section::max_staleness);
    s.field("replay", &off_policy_config::replay)
        .help("The replay, from which training draws transitions.");
    s.field("trainer", &Config::trainer).help("The options of the update rule.");
    s.field("policy", &Config::policy).help("The options of the networks.");
  });
  s.option(&off_policy_config::replay, &ring_section::capacity)
      .must_be(
          [](const Config& c) {
            return "at least trainer.batch_size, " + std::to_string(c.trainer.batch_size);
          },
          [](const Config& c) {
            return !c.replay.capacity || *c.replay.capacity >= c.trainer.batch_size;
          });
  s.rule(
      "total_steps",
      [](const Config& c) {
        return "more than the " + std::to_string(c.warm_up() * c.steps_of_collection()) +
               " environment steps before the first update, see collection.learning_starts";
      },
      [](const Config& c) { return c.updates() > 0; });
}

}  // namespace troupe
