#pragma once
// GRPO and its descendants, put together from the other functions of this folder:
//
//   per token   w * term(r, A) + kl_coef * kl
//   r           policy_ratio.hpp      to the proximal policy, by token or by answer
//   term        policy_terms.hpp      clipped, CISPO or REINFORCE
//   w           importance_correction.hpp, to the proximal policy; of REINFORCE to the current one
//   kl          kl_estimates.hpp      to the reference
//   and then    loss_aggregation.hpp  one number

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
  double cispo_max = 5.0;  ///< largest ratio of CISPO
  correction_options correction;
  double kl_coef = 0.0;  ///< weight of the KL to the reference; 0: there needs to be none
  kl_kind kl = kl_kind::k3;
  loss_aggregation aggregation = loss_aggregation::token_mean;
};

/// The published algorithms by name.
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
  bool dynamic_sampling = false;  ///< a group without variance is replaced by another prompt's
  double overlong_share = 0.0;    ///< of the longest answer: the cache of overlong_reward.hpp
};

/// What the paper says, without a KL penalty.
grpo_preset preset_of(grpo_variant variant);

/// All float or all double. Gradient flows to `log_prob` alone.
struct grpo_loss_inputs {
  token_rows rows;
  at::Tensor log_prob;   ///< [T] of the tokens, under the weights being trained
  at::Tensor behaviour;  ///< [T] under the weights that sampled each of them
  at::Tensor proximal;   ///< [T] what the ratio is to; undefined: the behaviour
  at::Tensor reference;  ///< [T] read where kl_coef isn't 0
  at::Tensor advantage;  ///< [N]
};

/// Means over these tokens.
struct grpo_loss_metrics {
  double loss = 0.0;          ///< their share of the batch's
  double ratio = 1.0;         ///< mean r
  double approx_kl = 0.0;     ///< KL(proximal, current), k3
  double clip_low = 0.0;      ///< share of tokens without gradient, as policy_terms.hpp has it
  double clip_high = 0.0;     ///< the same above
  double weight = 1.0;        ///< mean w, before it is truncated or masked
  double out_of_range = 0.0;  ///< share of tokens whose w was truncated or masked
  double kl = 0.0;            ///< mean KL estimate to the reference
};

struct grpo_loss_result {
  at::Tensor loss;  ///< scalar with gradient
  grpo_loss_metrics metrics;
};

/// Throws c10::Error if shapes disagree or a tensor is missing.
grpo_loss_result grpo_loss(const grpo_loss_inputs& in, const grpo_loss_options& options,
                           const loss_divisor& whole);

}  // namespace troupe
