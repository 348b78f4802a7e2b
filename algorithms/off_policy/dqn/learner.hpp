#pragma once
// DQN's learner. It can be used without a run.

#include <cstdint>
#include <memory>
#include <span>

#include "actors/gradients/graph.hpp"
#include "actors/networks/network.hpp"
#include "algorithms/learner/learner.hpp"
#include "algorithms/learner/trained_block.hpp"
#include "algorithms/off_policy/acting_policy.hpp"
#include "algorithms/off_policy/dqn/config.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// The update rule of deep Q-learning (Mnih et al. 2015, https://doi.org/10.1038/nature14236) with
/// the Huber loss and the details of Stable-Baselines3. Double DQN
/// (https://arxiv.org/abs/1509.06461) and dueling networks (https://arxiv.org/abs/1511.06581) are
/// options. The metrics are "train/loss", the mean Huber loss, "train/q_mean", the mean Q(s, a) of
/// the batch, and "train/grad_norm", the norm of the gradient before clipping. The TD errors are
/// |Q(s, a) - target|.
class dqn_learner final : public learner<transition_batch> {
 public:
  /// `seed` decides the initial weights. Throws std::invalid_argument if an option is out of range,
  /// or if the shape does not have exactly one discrete choice.
  dqn_learner(const network_shape& shape, const dqn_options& options, std::uint64_t seed);

  const dqn_options& options() const { return options_; }
  /// The network that acts; its parameters() are the block to publish.
  acting_policy& policy() { return online_; }
  const acting_policy& policy() const { return online_; }
  std::span<const float> target() const { return target_; }
  /// The gradient of the last update [P], before clipping.
  std::span<const float> gradient() const { return trained_.gradient(); }

  std::span<const float> acting() const override { return online_.parameters(); }
  void start_from(std::span<const float> acting, const named_tensors& beside) override;
  /// target <- (1 - tau) target + tau online. The caller decides when; Stable-Baselines3 does it
  /// every 10,000 environment steps.
  void update_target(std::int64_t times = 1) override;
  void visit_state(state_visitor& visit) override;

 private:
  void check_batch(const transition_batch& batch) const override;
  bool step(const transition_batch& batch) override;

  dqn_options options_;
  acting_policy online_;
  detail::float_block target_;  // [P]
  detail::trained_block trained_;
  std::unique_ptr<graph> graph_;
};

}  // namespace troupe
