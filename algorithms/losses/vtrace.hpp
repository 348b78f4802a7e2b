#pragma once
// V-trace, from which IMPALA takes advantages and returns of rows that older policies made.

#include "algorithms/losses/gae.hpp"

namespace troupe {

/// The coefficients of vtrace. Their range is not checked.
struct vtrace_options {
  double gamma = 0.99;   ///< The discount per step, 0 to 1.
  double lambda = 1.0;   ///< The weight of later steps, 0 to 1; the paper's remark 2.
  double rho_cap = 1.0;  ///< The largest importance weight of a temporal difference.
  double c_cap = 1.0;    ///< The largest importance weight in the trace of later steps.
};

/// Computes the targets of V-trace (Espeholt et al. 2018, https://arxiv.org/abs/1802.01561,
/// equation 1) and the advantages of section 4.2:
///
///   v_t = V(s_t) + delta_t + gamma c_t (v_t+1 - V(s_t+1)),
///     delta_t = rho_t (r_t + gamma V(s_t+1) - V(s_t))
///   A_t = rho_t (r_t + gamma v_t+1 - V(s_t))
///
/// with rho_t = min(rho_cap, ratio_t) and c_t = lambda min(c_cap, ratio_t). `ratio` [T, B] is the
/// probability of the action under the present policy by that under the policy that acted. The
/// values in `in` are those of the present critic. Ends of episodes, invalid steps and errors are
/// as in gae. `returns` are v_t. With ratios of 1 and lambda 1 the result is that of gae.
gae_targets vtrace(const gae_inputs& in, const at::Tensor& ratio,
                   const vtrace_options& options = {});

}  // namespace troupe
