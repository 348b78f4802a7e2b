#pragma once
// DQN's learner. It can be used without a run.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "actors/gradients/graph.hpp"
#include "actors/networks/named_tensors.hpp"
#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"
#include "algorithms/learner/non_finite_training.hpp"
#include "algorithms/learner/state_parts.hpp"
#include "algorithms/learner/trained_block.hpp"
#include "algorithms/off_policy/acting_policy.hpp"
#include "algorithms/off_policy/dqn/config.hpp"
#include "algorithms/off_policy/learner_checks.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// The metrics of one gradient step, with Stable-Baselines3's names where it has them.
struct dqn_metrics {
  double loss = 0.0;           ///< The mean Huber loss.
  double q_mean = 0.0;         ///< The mean Q(s, a) of the batch.
  double grad_norm = 0.0;      ///< The norm of the gradient before clipping.
  std::int64_t n_updates = 0;  ///< Gradient steps since the start.
  double learning_rate = 0.0;
  bool skipped = false;  ///< Loss or gradient was not finite, so the weights were not changed.
};

/// The state from which a learner goes on exactly.
struct dqn_learner_state {
  std::vector<float> parameters;  ///< [P]
  std::vector<float> target;      ///< [P]
  adam_state optimizer;
  action_random::state_type random{};
  std::int64_t n_updates = 0;
  int skipped_in_a_row = 0;
};

/// The update rule of deep Q-learning (Mnih et al. 2015, https://doi.org/10.1038/nature14236) with
/// the Huber loss and the details of Stable-Baselines3. Double DQN
/// (https://arxiv.org/abs/1509.06461) and dueling networks (https://arxiv.org/abs/1511.06581) are
/// options. The class has no actors: `update` takes transitions, and policy() has the new weights.
class dqn_learner {
 public:
  /// `seed` decides the initial weights. Throws std::invalid_argument if an option is out of range,
  /// or if the shape does not have exactly one discrete choice.
  dqn_learner(const network_shape& shape, const dqn_options& options, std::uint64_t seed);

  /// Takes one gradient step. A step whose loss or gradient is not finite is skipped;
  /// max_skipped_steps in a row throw non_finite_training. `progress_remaining` falls from 1 to 0
  /// during training. `chosen_lr` replaces lr and its schedule. Throws std::invalid_argument if the
  /// batch does not fit.
  dqn_metrics update(const transition_batch& batch, double progress_remaining = 1.0,
                     std::optional<double> chosen_lr = {});
  /// |Q(s, a) - target| of the rows of the last update [B], for a prioritised replay.
  std::span<const float> td_errors() const { return td_errors_; }

  /// Updates the target network `times` times: target <- (1 - tau) target + tau online. The caller
  /// decides when; Stable-Baselines3 does it every 10,000 environment steps.
  void update_target(std::int64_t times = 1);

  const dqn_options& options() const { return options_; }
  /// The network that acts; its parameters() are the block to publish.
  acting_policy& policy() { return online_; }
  const acting_policy& policy() const { return online_; }
  std::span<const float> target() const { return target_; }
  /// The gradient of the last update [P], before clipping.
  std::span<const float> gradient() const { return trained_.gradient(); }

  /// Begins with a model's weights; the targets are copies of them. Throws std::invalid_argument if
  /// they are of other networks.
  void start_from(std::span<const float> acting, const named_tensors& beside);

  dqn_learner_state state() const;
  /// Throws std::invalid_argument if the state is that of another network.
  void set_state(const dqn_learner_state& state);

 private:
  friend struct detail::learner_parts;
  template <class Self, class State, class Visit>
  static void parts(Self& self, State& state, const Visit& visit);

  dqn_options options_;
  acting_policy online_;
  detail::float_block target_;  // [P]
  detail::trained_block trained_;
  action_random random_;
  std::unique_ptr<graph> graph_;
  detail::skip_guard guard_;
  std::int64_t n_updates_ = 0;
  std::vector<float> td_errors_;  // [B]
};

}  // namespace troupe
