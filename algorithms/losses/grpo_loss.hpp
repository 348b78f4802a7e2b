#pragma once
// The losses of GRPO and its descendants, composed of the other functions of this folder:
//
//   per token   w * term(r, A) + kl_coef * kl
//   r           policy_ratio.hpp: the ratio to the proximal policy, per token or per answer
//   term        policy_terms.hpp: clipped, CISPO or REINFORCE
//   w           importance_correction.hpp: the ratio of the proximal policy, with REINFORCE of the
//               current one, to the behaviour
//   kl          kl_estimates.hpp: the estimate of the KL divergence to the reference
//   the sum     loss_aggregation.hpp: the losses of tokens become one number
//   entropy     entropy_coef times the mean entropy over all tokens is subtracted from that number

#include <ATen/core/Tensor.h>

#include "algorithms/losses/group_advantages.hpp"
#include "algorithms/losses/importance_correction.hpp"
#include "algorithms/losses/kl_estimates.hpp"
#include "algorithms/losses/loss_aggregation.hpp"
#include "algorithms/losses/policy_terms.hpp"

namespace troupe {

enum class policy_term { clip, cispo, reinforce };
enum class ratio_level { token, sequence };

struct grpo_loss_options {
  policy_term term = policy_term::clip;
  ratio_level ratio = ratio_level::token;
  clip_options clip;
  double cispo_max = 5.0;  ///< The largest ratio of CISPO.
  correction_options correction;
  double kl_coef = 0.0;  ///< Weight of the KL to the reference; 0 means no reference is needed.
  kl_kind kl = kl_kind::k3;
  double entropy_coef = 0.0;  ///< Weight of the entropy bonus; 0 means no entropy is needed.
  loss_aggregation aggregation = loss_aggregation::token_mean;
};

/// Published algorithms of which preset_of returns the settings.
enum class grpo_variant {
  grpo,       ///< Shao et al. 2024, arXiv:2402.03300
  dr_grpo,    ///< Liu et al. 2025, arXiv:2503.20783
  dapo,       ///< Yu et al. 2025, arXiv:2503.14476
  gspo,       ///< Zheng et al. 2025, arXiv:2507.18071
  cispo,      ///< MiniMax 2025, arXiv:2506.13585
  rloo,       ///< Ahmadian et al. 2024, arXiv:2402.14740
  reinforce,  ///< Williams 1992
};

struct grpo_preset {
  advantage_kind advantage = advantage_kind::group_std;
  grpo_loss_options loss;
  bool dynamic_sampling = false;  ///< A group without variance is replaced by another prompt's.
  /// The cache of overlong_reward.hpp as a share of the longest answer; 0 means no such penalty.
  double overlong_share = 0.0;
};

/// The settings of the variant's paper, without a KL penalty.
grpo_preset preset_of(grpo_variant variant);

/// The inputs of grpo_loss for T tokens of N answers, all float or all double. The tensors [T] but
/// `entropy` are log-probabilities of the tokens. Gradient flows only to `log_prob` and `entropy`.
struct grpo_loss_inputs {
  token_rows rows;
  at::Tensor log_prob;   ///< [T] under the weights that are trained
  at::Tensor behaviour;  ///< [T] under the weights that sampled the token
  at::Tensor proximal;   ///< [T] under the policy that the ratio refers to; undefined: behaviour
  at::Tensor reference;  ///< [T] under the reference; read only if kl_coef is not 0
  at::Tensor advantage;  ///< [N] the advantage of each answer
  /// [T] the entropy of the whole distribution of each token, in nats, under the weights that are
  /// trained; read only if entropy_coef is not 0
  at::Tensor entropy = {};
  at::Tensor length_max = {};  ///< [N] see aggregated
};

/// Metrics over the tokens of one call.
struct grpo_loss_metrics {
  double loss = 0.0;          ///< The share of these answers in the batch's loss.
  double ratio = 1.0;         ///< The mean of r.
  double approx_kl = 0.0;     ///< KL(proximal, current), estimated by k3.
  double clip_low = 0.0;      ///< The share of tokens clipped below, see clip_fractions.
  double clip_high = 0.0;     ///< The share of tokens clipped above.
  double weight = 1.0;        ///< The mean of w before it is truncated or masked.
  double out_of_range = 0.0;  ///< The share of tokens whose w was truncated or masked.
  double kl = 0.0;            ///< The mean KL estimate to the reference.
  double entropy = 0.0;       ///< The mean entropy; 0 if entropy_coef is 0.
};

struct grpo_loss_result {
  at::Tensor loss;  ///< A scalar with gradient.
  grpo_loss_metrics metrics;
};

/// Computes the loss of some answers of a batch whose sizes are `whole`. Throws c10::Error if
/// shapes disagree or a tensor is missing.
grpo_loss_result grpo_loss(const grpo_loss_inputs& in, const grpo_loss_options& options,
                           const loss_divisor& whole);

}  // namespace troupe
