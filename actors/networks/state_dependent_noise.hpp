#pragma once
#include <cstddef>

#include "actors/kernels/float_block.hpp"
#include "actors/random/action_random.hpp"

namespace troupe::detail {

/// Generalised state-dependent exploration (gSDE): Raffin et al. 2021,
/// https://arxiv.org/abs/2005.05719, section 3, with the details of Stable-Baselines3.
///
/// Exploration is a function of the state: an action departs from its mean by phi(s) E, where
/// phi(s) [H] is what the last layer of the actor sees and E [H, A] is a matrix drawn from
/// N(0, std^2) now and then. So it is smooth as long as E stays. Over all E, actions are Gaussian
/// around the mean with
///
///   variance_a(s) = sum over h of phi_h(s)^2 std_ha^2 + 1e-6
///
/// which is what log-probabilities are of. The parameters are log std [H, A].
///
/// Not for two threads at once: calls share work buffers.
class state_dependent_noise {
 public:
  /// `use_expln`: std is log(1 + p) + 1 of a parameter p > 0 and exp(p) of others, which grows
  /// slowly; else exp(p).
  state_dependent_noise(int features, int actions, bool use_expln)
      : features_(features), actions_(actions), use_expln_(use_expln) {}

  /// Numbers of a matrix, and of the parameters: H A.
  std::size_t size() const { return static_cast<std::size_t>(features_) * actions_; }

  /// Half the logarithm of the variance [rows, A], of phi [rows, H]; valid until the next call.
  const float* log_std(const float* parameters, const float* phi, int rows);

  /// After log_std with the same arguments: what actions depart from their mean by [rows, A]; valid
  /// until the next call. `draws`: for each row a matrix [H, A] of standard normals.
  const float* depart(const float* phi, int rows, const float* const* draws);
  /// The same by one matrix for all rows.
  const float* depart_together(const float* phi, int rows, const float* draw);

  /// After log_std: the same where each row draws by itself, from the Gaussian.
  const float* depart_alone(int rows, action_random& random);

  /// After log_std: d_parameters [H, A] is overwritten with the derivatives
  /// of a loss whose derivatives by log_std are d_log_std [rows, A]. phi is held fixed.
  void backward(int rows, const float* d_log_std, float* d_parameters);

  /// After log_std and depart_together with the same arguments, where phi is learned from them,
  /// too: d_phi [rows, H] and d_parameters are overwritten. d_departure [rows, A]: the derivatives
  /// by what depart_together gave.
  void backward(const float* phi, int rows, const float* d_log_std, const float* d_departure,
                const float* draw, float* d_parameters, float* d_phi);

 private:
  void find_std(const float* parameters);
  void multiply_transposed(const float* d, int rows, const float* matrix, float* result);

  int features_;
  int actions_;
  bool use_expln_;
  float_block std_, slope_;         // [H, A]; slope: d std / d parameter
  float_block std_squared_;         // [H, A]
  float_block phi_squared_;         // [rows, H]
  float_block variance_, log_std_;  // [rows, A]
  float_block matrix_;              // [H, A] std times the draw of depart_together
  float_block departure_;           // [rows, A]
  float_block d_variance_;          // [rows, A]
  float_block product_;             // [H, A]
  float_block transposed_;          // [A, H]
  float_block d_phi_;               // [rows, H]
};

/// Squashed policies keep their means within this, Stable-Baselines3's clip_mean: beyond it a tanh
/// leaves no room to explore.
constexpr float max_noisy_mean = 2.0f;

/// tanh(clip(mean) + departure), `count` numbers; departure null: 0.
void squash(const float* mean, const float* departure, std::size_t count, float* actions);

}  // namespace troupe::detail
