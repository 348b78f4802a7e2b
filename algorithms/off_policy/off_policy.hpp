#pragma once
// DQN, SAC, TD3 and DDPG, and IQL, VDN and QMIX, as algorithms for a run (algorithm.hpp): their
// roles, episode and update.
//
//   collectors   step environments with the acting network, both in one role
//   replay       keeps the ring of transitions
//   trainer      draws minibatches and updates the weights; on a thread of its own in async mode
//   evaluator    plays deterministic episodes between updates and at the end
//
// generate_transitions (transition_rollout.hpp) asks a collector for some steps. The loop puts the
// transitions into the replay. `update` tells the trainer to draw minibatches from the replay and
// take gradient steps; the trainer then sends the new weights to the collectors.

#include <functional>
#include <memory>
#include <vector>

#include "algorithms/loops/recent_mean.hpp"
#include "algorithms/off_policy/config.hpp"
#include "algorithms/off_policy/off_policy_trainer.hpp"
#include "algorithms/off_policy/transition_rollout.hpp"
#include "algorithms/run/algorithm.hpp"
#include "algorithms/run/environment_algorithm.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The settings, configuration and learner of an off-policy algorithm.
struct off_policy_algorithm {
  run_settings settings;
  off_policy_config config;
  std::size_t batch_size = 256;  ///< The rows of a gradient step.
  double gamma = 0.99;           ///< The discount per step.
  exploration explore;
  std::function<std::unique_ptr<transition_learner>(const network_shape&)> make_learner;
  /// The steps of each environment between updates of the targets; 0 for a learner that updates
  /// them by itself.
  std::int64_t target_update_steps = 0;
  /// What collectors do with several agents; null means the defaults. It doesn't set env_options.
  std::function<agent_collection(const network_shape&)> agents = nullptr;
};

class off_policy : public environment_algorithm {
 public:
  using experience = collected_transitions;

  off_policy(training_run& in, off_policy_algorithm algorithm);

  transition_roles roles;
  static task<collected_transitions> generate(transition_roles with) {
    return generate_transitions(std::move(with));
  }
  task<std::int64_t> update(std::vector<collected_transitions> made);
  loop_sizes sizes() const;
  /// Fills the replay before the first update.
  task<bool> begin();

  task<> serve(const checkpoint* from);
  task<> save(checkpoint& to);
  task<weights> newest();
  /// Writes a model file, with the critics if `of` are the weights that `newest` returned last.
  void write_model(const std::filesystem::path& path, const weights& of,
                   std::optional<double> score) const;
  task<evaluation> evaluate_at_the_end(weights of) { return evaluate_finally(std::move(of)); }

 private:
  std::size_t collectors() const;
  task<> serve_replay(const checkpoint* from);
  task<> serve_trainer(const checkpoint* from);
  task<> serve_collectors(const checkpoint* from);
  void restore_returns(const checkpoint& from);
  task<> record_episodes(std::vector<collected_transitions>& made);
  task<> record(const std::vector<named_number>& learned);

  const off_policy_algorithm algorithm_;
  /// The number of collectors that the next checkpoint waits for.
  std::size_t collectors_expected_ = 0;
  service<off_policy_trainer> trainer_;
  named_tensors beside_;              ///< The tensors that don't act, of the newest weights.
  std::int64_t version_beside_ = -1;  ///< The version of these weights.
  std::int64_t episodes_to_log_ = 0;  ///< Episodes ended since the last row of progress.csv.
  std::vector<loops::recent_mean> agent_returns_;  ///< Of each agent's last episodes.
};

/// The settings of a run with that configuration. `acting` are the options of the network that
/// acts; `resolved` is the whole configuration as JSON.
run_settings settings_of(const off_policy_config& config, network_options acting,
                         std::string resolved);

/// Makes the algorithm for a run, for train().
algorithm algorithm_with(off_policy_algorithm algorithm);

}  // namespace troupe
