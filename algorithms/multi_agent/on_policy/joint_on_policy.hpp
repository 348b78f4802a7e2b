#pragma once
// IPPO, MAPPO and COMA as algorithms for a run (algorithm.hpp): their roles, episode and update.
//
//   environments     one or more replicas with B environments each, of several agents
//   policy_NAME      chooses actions for the agents that it plays; one service for each policy
//   replay           gives each joint rollout to the trainer once, unless it is too stale
//   trainer          updates the weights of all policies
//   evaluator        plays deterministic episodes between updates
//
// generate_joint_rollout (joint_episode.hpp) asks all policies and then the environments, T times.
// `update` sends the rollouts to the trainer, which has a learner for each policy. The weights of
// all policies are one block with one version; each policy takes its own part of it.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "algorithms/learner/configured_learner.hpp"
#include "algorithms/learner/trainer.hpp"
#include "algorithms/loops/recent_mean.hpp"
#include "algorithms/multi_agent/on_policy/config.hpp"
#include "algorithms/multi_agent/on_policy/joint_episode.hpp"
#include "algorithms/multi_agent/on_policy/joint_learner.hpp"
#include "algorithms/multi_agent/on_policy/random_joint_update.hpp"
#include "algorithms/run/algorithm.hpp"
#include "algorithms/run/environment_algorithm.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

using joint_trainer = trainer<joint_learner>;

/// The parts of a configuration with which the roles are served.
struct joint_on_policy_setup {
  multi_agent_on_policy_config config;
  network_options network;  ///< The network that acts.
  /// Returns a function that makes the learner and can be sent to another process.
  std::function<joint_trainer::maker(const network_shape&)> maker;
  bool joint_actions = false;  ///< True if rollouts have joint_rollout::acting.
};

class joint_on_policy : public environment_algorithm {
 public:
  using experience = joint_rollout;

  joint_on_policy(training_run& in, joint_on_policy_setup setup);

  joint_rollout_roles roles;
  static task<joint_rollout> generate(joint_rollout_roles with) {
    return generate_joint_rollout(std::move(with));
  }
  task<std::int64_t> update(std::vector<joint_rollout> rollouts);
  loop_sizes sizes() const;

  task<> serve(const checkpoint* from);
  task<> save(checkpoint& to);
  task<evaluation> evaluate_at_the_end(weights of) { return evaluate_finally(std::move(of)); }

 private:
  std::size_t environment_replicas() const;
  task<> serve_policies(const checkpoint* from);
  task<> serve_environments(const checkpoint* from);
  task<> serve_replay(const checkpoint* from);
  task<> record_episodes(const std::vector<joint_rollout>& rollouts);
  joint_batch batch_of(std::vector<joint_rollout> rollouts);
  task<> record(const learner_report& learned);

  const joint_on_policy_setup setup_;
  /// The number of replicas of environments that the next checkpoint waits for.
  std::size_t environments_expected_ = 0;
  service<joint_trainer> trainer_;
  std::vector<loops::recent_mean> agent_returns_;  // of each agent's last episodes
};

/// The settings of a run with that configuration. `resolved` is the whole configuration as JSON,
/// `idle` are its options without effect.
run_settings settings_of(const multi_agent_on_policy_config& config, std::string resolved,
                         std::vector<idle_option> idle);

/// Makes an on-policy algorithm with several agents for a run of a setup. `check` throws
/// std::invalid_argument where the learner can't learn with it.
algorithm algorithm_with(run_settings settings, std::function<void()> check,
                         joint_on_policy_setup setup);

/// Makes an on-policy algorithm with several agents for a run. Config is derived from
/// multi_agent_on_policy_config. With `joint_actions` rollouts have joint_rollout::acting. These
/// functions must be declared beside it:
///
///   void describe(options_schema<Config>&)
///   std::unique_ptr<joint_learner> make_learner(const network_shape&, const Config&)
///
/// If the network that acts has other options than config.network(), declare
/// network_options acting_network_of(const Config&), too.
template <class Config, class Json = nlohmann::json>
algorithm joint_on_policy_algorithm(const Config& config, bool joint_actions = false) {
  auto settings =
      settings_of(config, to_json<Config, Json>(config).dump(), idle_options_of(config));
  settings.network = acting_network_of(config);
  settings.shape = [config](const env_spec& spec) { return config.shape_for(spec); };
  auto check = [settings, config] {
    require_network(settings);
    make_learner(config.shape_for(spec_of(settings.env)), config);
  };
  joint_on_policy_setup setup{
      .config = config,
      .network = settings.network,
      .maker = [config](const network_shape& shape) -> joint_trainer::maker {
        return configured_learner<Config, joint_learner>{shape, config};
      },
      .joint_actions = joint_actions};
  auto make_update = [config, network = settings.network, joint_actions](const network_shape& shape,
                                                                         std::uint64_t seed) {
    return random_joint_update(configured_learner<Config, joint_learner>{shape, config}(), shape,
                               network, joint_actions, seed);
  };
  auto made = algorithm_with(std::move(settings), std::move(check), std::move(setup));
  made.make_update = std::move(make_update);
  return made;
}

}  // namespace troupe
