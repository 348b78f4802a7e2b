#pragma once
// The loss of PPO, and without clipping that of A2C and REINFORCE, as a function of a graph.

#include <cstdint>
#include <optional>
#include <span>

#include "actors/gradients/graph.hpp"

namespace troupe {

/// The inputs of an on-policy loss, all [N, 1] for a minibatch of N rows. Only log_prob, entropy
/// and value are trained; the others are constants.
struct ppo_loss_inputs {
  variable log_prob;            ///< log pi(a|s) of the action taken, under the trained weights
  variable entropy;             ///< entropy of pi(.|s) under the trained weights
  variable value;               ///< V(s) under the trained weights
  variable behaviour_log_prob;  ///< log pi(a|s) under the weights that acted
  /// log pi(a|s) under the weights with which the update began: behaviour_log_prob itself, unless
  /// others acted.
  variable proximal_log_prob;
  variable advantage;  ///< the advantage, already normalised if the options want it
  variable returns;    ///< the target of V(s)
  variable old_value;  ///< V(s) when the update began
  /// The numbers of the rows with an action; the others have a value loss and nothing else. None
  /// means that all rows have one.
  std::optional<std::span<const std::int64_t>> acted = {};
};

/// The loss of a value that clip_range_vf bounds.
enum class value_clipping {
  clipped,  ///< That of the clipped value, as in Stable-Baselines3.
  larger,   ///< The larger one of those of the value and of the clipped value.
};

/// The options of ppo_loss. The defaults are Stable-Baselines3's.
struct ppo_loss_options {
  double clip_range = 0.2;              ///< The ratio is clipped to 1 +- this.
  std::optional<double> clip_range_vf;  ///< Values are clipped to old_value +- this, unless none.
  value_clipping clip_vf_loss = value_clipping::clipped;  ///< Read only with clip_range_vf.
  /// Beyond this distance the squared error goes on as its tangent; none means nowhere.
  std::optional<double> huber_delta;
  double ent_coef = 0.0;        ///< The weight of the entropy bonus.
  double vf_coef = 0.5;         ///< The weight of the value's loss.
  double importance_cap = 2.0;  ///< The largest importance weight of stale data.
};

/// Metrics of a minibatch with Stable-Baselines3's names and meanings, and importance_weight. All
/// but value_loss are means over the rows with an action.
struct ppo_loss_metrics {
  double loss = 0.0;
  double policy_gradient_loss = 0.0;
  double value_loss = 0.0;
  double entropy_loss = 0.0;       ///< Minus the mean entropy.
  double approx_kl = 0.0;          ///< KL(proximal, current), estimated by mean((r - 1) - log r).
  double clip_fraction = 0.0;      ///< The share of rows with |r - 1| > clip_range.
  double importance_weight = 1.0;  ///< The mean of min(proximal / behaviour, importance_cap).
};

struct ppo_loss_result {
  variable loss;  ///< [1, 1]
  ppo_loss_metrics metrics;
};

/// PPO's loss: the clipped surrogate (Schulman et al. 2017, https://arxiv.org/abs/1707.06347,
/// equation 7) with value loss and entropy bonus (equation 9). For rows that other weights have
/// acted in, it is the decoupled clipped objective of Hilton et al. 2021,
/// https://arxiv.org/abs/2110.00641, whose weight proximal / behaviour is truncated at
/// importance_cap. Throws std::invalid_argument if sizes disagree.
ppo_loss_result ppo_loss(const ppo_loss_inputs& in, const ppo_loss_options& options = {});

}  // namespace troupe
