#pragma once
// SAC's learner. It can be used without a run.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/networks/network.hpp"
#include "algorithms/learner/learner.hpp"
#include "algorithms/learner/trained_block.hpp"
#include "algorithms/off_policy/acting_policy.hpp"
#include "algorithms/off_policy/critic_ensemble.hpp"
#include "algorithms/off_policy/sac/config.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// The update rule of soft actor-critic with an adapted temperature (Haarnoja et al. 2018,
/// https://arxiv.org/abs/1812.05905, algorithm 1) with the details of Stable-Baselines3. An update
/// takes a gradient step of critics, actor and alpha. Its metrics are
///
///   train/actor_loss       the mean of alpha log pi(a|s) - min Q(s, a)
///   train/critic_loss      half the sum over critics of their mean squared errors
///   train/ent_coef         the alpha that the update used
///   train/entropy          -mean log pi(a|s), in nats
///   train/ent_coef_loss    -log alpha (mean log pi + target entropy), unless alpha is fixed
///
/// The TD errors are the means over critics of |Q(s, a) - target|.
class sac_learner final : public learner<transition_batch> {
 public:
  /// `seed` decides the initial weights and the actions drawn in updates. Throws
  /// std::invalid_argument if an option is out of range or the shape has no continuous actions.
  sac_learner(const network_shape& shape, const sac_options& options, std::uint64_t seed);

  const sac_options& options() const { return options_; }
  /// The network that acts; its parameters() are the block to publish.
  acting_policy& policy() { return actor_; }
  const acting_policy& policy() const { return actor_; }
  const detail::critic_ensemble& critics() const { return critics_; }
  /// The weight of the entropy, alpha.
  double ent_coef() const;
  /// The actor's gradient of the last update [P].
  std::span<const float> actor_gradient() const { return trained_actor_.gradient(); }
  /// The critics' gradient of the last update [Q].
  std::span<const float> critic_gradient() const { return trained_critics_.gradient(); }

  std::span<const float> acting() const override { return actor_.parameters(); }
  /// The critics and "log_ent_coef" as a model file has them.
  named_tensors beside() const override;
  void start_from(std::span<const float> acting, const named_tensors& beside) override;
  void visit_state(state_visitor& visit) override;

 private:
  void check_batch(const transition_batch& batch) const override;
  bool step(const transition_batch& batch) override;
  void draw_noise(int rows);
  bool step_networks(const transition_batch& batch);

  sac_options options_;
  acting_policy actor_;
  detail::critic_ensemble critics_;
  std::vector<float> log_ent_coef_;  // [1]
  detail::trained_block trained_actor_, trained_critics_;
  adam ent_coef_optimizer_;
  std::unique_ptr<graph> actor_graph_, critic_graph_;
  detail::float_block noise_, next_noise_;  // [B, A]; with use_sde one matrix [H, A]
};

}  // namespace troupe
