#pragma once
// The learner that IQL, VDN and QMIX have in common. It can be used without a run.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/gradients/graph.hpp"
#include "actors/kernels/float_block.hpp"
#include "actors/networks/named_tensors.hpp"
#include "actors/random/action_random.hpp"
#include "actors/trainer/adam.hpp"
#include "algorithms/learner/metric_means.hpp"
#include "algorithms/learner/non_finite_training.hpp"
#include "algorithms/learner/reward_scaling.hpp"
#include "algorithms/learner/skip_guard.hpp"
#include "algorithms/multi_agent/off_policy/config.hpp"
#include "algorithms/multi_agent/off_policy/joint_q_networks.hpp"
#include "algorithms/multi_agent/off_policy/value_mixer.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// The metrics of one gradient step.
struct joint_q_metrics {
  double loss = 0.0;           ///< The mean squared TD error; of IQL summed over the policies.
  double q_mean = 0.0;         ///< The mean Q_tot of the batch, of IQL the mean Q(o, a).
  double grad_norm = 0.0;      ///< The norm of the whole gradient before clipping.
  std::int64_t n_updates = 0;  ///< Gradient steps since the start.
  double learning_rate = 0.0;
  bool skipped = false;  ///< Loss or gradient was not finite, so the weights were not changed.
};

/// The metrics as columns of progress.csv.
named_values named(const joint_q_metrics& metrics);

/// The state from which a learner goes on exactly.
struct joint_q_learner_state {
  std::vector<float> parameters;  ///< [P + M], those of the policies and then those of the mixer.
  std::vector<float> target;      ///< [P + M]
  std::vector<adam_state> optimizers;
  action_random::state_type random{};
  std::int64_t n_updates = 0;
  int skipped_in_a_row = 0;
  detail::reward_scale::state reward_scale = {};  ///< Used with normalize_reward.
};

/// The update rule of deep Q-learning for several agents. Each policy has a network of action
/// values, which sees what its agent sees. With a mixer the team's Q_tot is learned from the team's
/// reward (VDN, QMIX); without one each agent's Q is learned from what that agent is trained on
/// (IQL), and each policy has an optimiser of its own. An agent that does not act in a row has
/// value 0 there and no loss. The next choices are the best of those that are allowed, and the
/// value of an agent whose episode has ended is 0; double Q-learning (van Hasselt et al. 2016,
/// https://arxiv.org/abs/1509.06461) is an option. The loss is the squared error.
class joint_q_learner {
 public:
  /// `name` is the algorithm's; `seed` decides the initial weights. Throws std::invalid_argument if
  /// an option is out of range or the shape is not one of agents with a discrete choice each.
  joint_q_learner(const char* name, const network_shape& shape, const joint_q_options& options,
                  std::uint64_t seed, std::vector<std::uint8_t> trained,
                  std::unique_ptr<value_mixer> mixer);

  /// Takes one gradient step. A step whose loss or gradient is not finite is skipped;
  /// max_skipped_steps in a row throw non_finite_training. `progress_remaining` falls from 1 to 0
  /// during training. `chosen_lr` replaces lr and its schedule. Throws std::invalid_argument if the
  /// batch does not fit.
  joint_q_metrics update(const transition_batch& batch, double progress_remaining = 1.0,
                         std::optional<double> chosen_lr = {});
  /// The |TD error| of the rows of the last update [B]: of Q_tot, of IQL the mean over the agents.
  std::span<const float> td_errors() const { return td_errors_; }

  /// Updates the targets `times` times: target <- (1 - tau) target + tau online.
  void update_target(std::int64_t times = 1);

  const joint_q_options& options() const { return options_; }
  const joint_q_networks& networks() const { return networks_; }
  /// Null for IQL. Its calls share work buffers.
  value_mixer* mixer() const { return mixer_.get(); }
  const std::vector<std::uint8_t>& trained() const { return trained_; }
  /// The parameters of the policies, float [P], to publish.
  std::span<const float> acting() const;
  /// All parameters, those of the mixer behind those of the policies, float [P + M].
  std::span<const float> parameters() const { return parameters_; }
  std::span<const float> target() const { return target_; }
  /// The gradient of the last update [P + M], before clipping.
  std::span<const float> gradient() const { return gradient_; }

  /// The tensors of the mixer, with names as "mixer.w1.0.weight".
  named_tensors beside() const;
  /// Begins with a model's weights; the targets are copies of them. A mixer that the model doesn't
  /// have keeps its own. Throws std::invalid_argument if they are of other networks.
  void start_from(std::span<const float> acting, const named_tensors& beside);

  joint_q_learner_state state() const;
  /// Throws std::invalid_argument if the state is that of other networks.
  void set_state(const joint_q_learner_state& state);

 private:
  /// A part of the parameters with an optimiser of its own.
  struct part {
    std::size_t first = 0;
    std::size_t count = 0;
    int policy = -1;  ///< The policy whose parameters these are; -1 for those of the whole team.
    adam optimizer;
  };

  void make_parts();
  const transition_batch& scaled(const transition_batch& batch);
  void take_errors(variable error);
  bool has_rows(const part& of) const;
  double take_step(double lr);

  std::string name_;
  joint_q_options options_;
  joint_q_networks networks_;
  std::vector<std::uint8_t> trained_;  // [policies]
  std::unique_ptr<value_mixer> mixer_;
  detail::float_block parameters_, target_, gradient_;  // [P + M]
  std::vector<part> parts_;
  action_random random_;
  std::unique_ptr<graph> graph_;
  detail::skip_guard guard_;
  std::int64_t n_updates_ = 0;
  detail::reward_scale reward_scale_;  // the team's, or those of N agents
  transition_batch scaled_;            // a batch with scaled rewards
  std::vector<float> td_errors_;       // [B]
  joint_q_rows rows_;                  // what the policies see of a batch
};

}  // namespace troupe
