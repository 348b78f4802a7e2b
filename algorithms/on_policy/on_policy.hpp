#pragma once
// PPO, A2C, REINFORCE, IMPALA, IPPO, MAPPO and COMA as algorithms for a run (algorithm.hpp): their
// roles, episode and update.
//
//   environments   one or more replicas with B environments each
//   policies       choose actions for batches of observations; with several agents, one service for
//                  each policy
//   replay         gives each rollout to the trainer once, unless it is too stale
//   trainer        updates the weights, on a thread of its own in async mode
//   evaluator      plays deterministic episodes between updates
//
// generate_rollout (episode.hpp) calls policies and environments in turn for T steps of B
// environments, which gives one rollout. The loop puts the rollout into the replay. `update` sends
// it to the trainer, which has a learner for each policy. The new weights go to the store and to
// the policies. Those of all policies are one block with one version, of which each policy takes
// its own part.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/collective/rendezvous_folder.hpp"
#include "actors/networks/shape_of.hpp"
#include "algorithms/learner/configured_learner.hpp"
#include "algorithms/learner/trainer.hpp"
#include "algorithms/loops/recent_mean.hpp"
#include "algorithms/on_policy/config.hpp"
#include "algorithms/on_policy/episode.hpp"
#include "algorithms/on_policy/policy_learners.hpp"
#include "algorithms/on_policy/random_update.hpp"
#include "algorithms/run/algorithm.hpp"
#include "algorithms/run/environment_algorithm.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

using on_policy_trainer = trainer<rollout_learner>;

/// The parts of a configuration with which the roles are served.
struct on_policy_setup {
  on_policy_config config;
  on_policy_options learner;
  network_options network;  ///< The network that acts.
  /// Returns a function that makes the learner and can be sent to another process.
  std::function<on_policy_trainer::maker(const network_shape&)> maker;
  rollout_writer_options writing = {};  ///< What rollouts of several agents have.
  /// Returns which policies of the shape learn, [policies]. Null means all.
  std::function<std::vector<std::uint8_t>(const network_shape&)> trained = nullptr;
};

class on_policy : public environment_algorithm {
 public:
  using experience = rollout;

  on_policy(training_run& in, on_policy_setup setup);

  rollout_roles roles;
  static task<rollout> generate(rollout_roles with) { return generate_rollout(std::move(with)); }
  task<std::int64_t> update(std::vector<rollout> rollouts);
  loop_sizes sizes() const;

  task<> serve(const checkpoint* from);
  task<> save(checkpoint& to);
  const service<on_policy_trainer>& trainer() const { return trainer_; }
  /// Plays deterministic episodes on separate environments, with the episode function of training.
  task<evaluation> evaluate_at_the_end(weights of);

 private:
  std::size_t environment_replicas() const;
  task<> serve_trainer(const checkpoint* from);
  task<> serve_policies(const checkpoint* from);
  task<service<policy>> serve_policy(std::size_t index, std::int64_t first_parameter);
  task<> serve_environments(const checkpoint* from);
  task<> serve_replay(const checkpoint* from);
  task<std::int64_t> push();
  task<> record_episodes(std::vector<rollout>& rollouts);
  training_rollouts batch_of(std::vector<rollout> rollouts);
  task<> record(const learner_report& learned);

  const on_policy_setup setup_;
  /// The number of replicas of environments that the next checkpoint waits for.
  std::size_t environments_expected_ = 0;
  std::optional<rendezvous_folder> meeting_;  ///< Set if the trainer has several ranks.
  service<on_policy_trainer> trainer_;
  std::vector<loops::recent_mean> agent_returns_;  // of each agent's last episodes, if several
};

/// The settings of a run with that configuration. `resolved` is the whole configuration as JSON,
/// `idle` are its options without effect.
run_settings settings_of(const on_policy_config& config, std::string resolved,
                         std::vector<idle_option> idle);

/// Makes an on-policy algorithm for a run of a setup. `check` throws std::invalid_argument where
/// the learner can't learn with it.
algorithm algorithm_with(run_settings settings, std::function<void()> check, on_policy_setup setup);

/// The setup of a run with a Config that is derived from on_policy_config.
template <class Config>
on_policy_setup on_policy_setup_of(const Config& config) {
  return {.config = config,
          .learner = config.trainer,
          .network = config.network(),
          .maker = [config](const network_shape& shape) -> on_policy_trainer::maker {
            return configured_learner<Config, rollout_learner>{shape, config};
          }};
}

/// Makes an on-policy algorithm for a run. Config is derived from on_policy_config and has a
/// section `trainer` that is derived from on_policy_options. These functions must be declared
/// beside it:
///
///   void describe(options_schema<Config>&)
///   on_policy_learner make_learner(const network_shape&, const Config&)
template <class Config, class Json = nlohmann::json>
algorithm on_policy_algorithm(const Config& config) {
  auto settings =
      settings_of(config, to_json<Config, Json>(config).dump(), idle_options_of(config));
  auto check = [settings, config] {
    require_network(settings);
    // The fused backend needs a loss that computes its derivatives. The learner refuses other
    // losses.
    if (settings.network.backend == gradient_backend::fused) {
      make_learner(shape_of(spec_of(settings.env), settings.network.body), config);
    }
  };
  auto made = algorithm_with(std::move(settings), std::move(check), on_policy_setup_of(config));
  made.make_update = [config](const network_shape& shape, std::uint64_t seed) {
    return random_update(configured_learner<Config, rollout_learner>{shape, config}(), shape,
                         config.network(), seed);
  };
  return made;
}

}  // namespace troupe
