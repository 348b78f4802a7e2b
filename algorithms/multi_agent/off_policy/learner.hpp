#pragma once
// The learner that IQL, VDN and QMIX have in common. It can be used without a run.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/gradients/graph.hpp"
#include "actors/kernels/float_block.hpp"
#include "algorithms/learner/learner.hpp"
#include "algorithms/learner/reward_scaling.hpp"
#include "algorithms/learner/trained_block.hpp"
#include "algorithms/multi_agent/off_policy/config.hpp"
#include "algorithms/multi_agent/off_policy/joint_q_networks.hpp"
#include "algorithms/multi_agent/off_policy/value_mixer.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// The update rule of deep Q-learning for several agents. Each policy has a network of action
/// values, which sees what its agent sees. With a mixer the team's Q_tot is learned from the team's
/// reward (VDN, QMIX); without one each agent's Q is learned from what that agent is trained on
/// (IQL), and each policy has an optimiser of its own. An agent that does not act in a row has
/// value 0 there and no loss. The next choices are the best of those that are allowed, and the
/// value of an agent whose episode has ended is 0; double Q-learning (van Hasselt et al. 2016,
/// https://arxiv.org/abs/1509.06461) is an option. The loss is the squared error.
///
/// The metrics are "train/loss", the mean squared TD error, of IQL summed over the policies,
/// "train/q_mean", the mean Q_tot of the batch, of IQL the mean Q(o, a), and "train/grad_norm", the
/// norm of the whole gradient before clipping. The TD errors are those of Q_tot, of IQL the means
/// over the agents.
class joint_q_learner : public learner<transition_batch> {
 public:
  /// `name` is the algorithm's; `seed` decides the initial weights. Throws std::invalid_argument if
  /// an option is out of range or the shape is not one of agents with a discrete choice each.
  joint_q_learner(const char* name, const network_shape& shape, const joint_q_options& options,
                  std::uint64_t seed, std::vector<std::uint8_t> trained,
                  std::unique_ptr<value_mixer> mixer);

  const joint_q_options& options() const { return options_; }
  const joint_q_networks& networks() const { return networks_; }
  /// Null for IQL. Its calls share work buffers.
  value_mixer* mixer() const { return mixer_.get(); }
  const std::vector<std::uint8_t>& trained() const { return trained_; }
  /// All parameters, those of the mixer behind those of the policies, float [P + M].
  std::span<const float> parameters() const { return parameters_; }
  std::span<const float> target() const { return target_; }
  /// The gradient of the last update [P + M], before clipping.
  std::span<const float> gradient() const { return trained_block_.gradient(); }

  /// The parameters of the policies, float [P], to publish.
  std::span<const float> acting() const override;
  /// The tensors of the mixer, with names as "mixer.w1.0.weight".
  named_tensors beside() const override;
  /// A mixer that the model doesn't have keeps its own parameters.
  void start_from(std::span<const float> acting, const named_tensors& beside) override;
  /// target <- (1 - tau) target + tau online.
  void update_target(std::int64_t times = 1) override;
  void visit_state(state_visitor& visit) override;

 private:
  void check_batch(const transition_batch& batch) const override;
  bool step(const transition_batch& batch) override;
  std::vector<parameter_range> optimised_parts() const;
  const transition_batch& scaled(const transition_batch& batch);
  void take_errors(variable error);
  bool acts(std::size_t policy) const;

  joint_q_options options_;
  joint_q_networks networks_;
  std::vector<std::uint8_t> trained_;  // [policies]
  std::unique_ptr<value_mixer> mixer_;
  detail::float_block parameters_, target_;  // [P + M]
  detail::trained_block trained_block_;
  std::unique_ptr<graph> graph_;
  detail::reward_scale reward_scale_;  // the team's, or those of N agents
  transition_batch scaled_;            // a batch with scaled rewards
  joint_q_rows rows_;                  // what the policies see of a batch
  std::vector<std::uint8_t> due_;      // whether each optimiser steps, see trained_block
};

}  // namespace troupe
