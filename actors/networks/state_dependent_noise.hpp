#pragma once
// State-dependent exploration noise, for actor-critic networks and for SAC.

#include <cstddef>

#include "actors/kernels/float_block.hpp"
#include "actors/random/action_random.hpp"

namespace troupe::detail {

/// Generalised state-dependent exploration (gSDE): Raffin et al. 2021,
/// https://arxiv.org/abs/2005.05719, section 3, with the details of Stable-Baselines3.
///
/// Exploration is a function of the state: an action departs from its mean by phi(s) E. Here phi(s)
/// [H] is the input of the actor's last layer, and E [H, A] is a matrix drawn from N(0, std^2) from
/// time to time. The exploration is smooth as long as E stays the same. Over all E, actions are
/// Gaussian around the mean with
///
///   variance_a(s) = sum over h of phi_h(s)^2 std_ha^2 + 1e-6
///
/// and log-probabilities are those of this Gaussian. The parameters are log std [H, A].
///
/// It must not be used by two threads at once, because calls share work buffers.
class state_dependent_noise {
 public:
  /// With `use_expln`, the std of a parameter p is log(1 + p) + 1, which grows slowly, if p > 0,
  /// and exp(p) otherwise. Without it the std is always exp(p).
  state_dependent_noise(int features, int actions, bool use_expln)
      : features_(features), actions_(actions), use_expln_(use_expln) {}

  /// Returns the count of numbers in a matrix, which is also that of the parameters: H A.
  std::size_t size() const { return static_cast<std::size_t>(features_) * actions_; }

  /// Returns half the logarithm of the variance, [rows, A], for phi [rows, H]. It is valid until
  /// the next call.
  const float* log_std(const float* parameters, const float* phi, int rows);

  /// Called after log_std with the same arguments: returns the departures of actions from their
  /// means, [rows, A], valid until the next call. `draws` has a matrix [H, A] of standard normals
  /// for each row.
  const float* depart(const float* phi, int rows, const float* const* draws);
  /// Called after log_std: like `depart`, but each row draws its own departure from the Gaussian.
  const float* depart_alone(int rows, action_random& random);

 private:
  void find_std(const float* parameters);

  int features_;
  int actions_;
  bool use_expln_;
  float_block std_;                 // [H, A]
  float_block std_squared_;         // [H, A]
  float_block phi_squared_;         // [rows, H]
  float_block variance_, log_std_;  // [rows, A]
  float_block departure_;           // [rows, A]
};

/// The bound on the means of squashed policies, Stable-Baselines3's clip_mean: beyond it a tanh
/// leaves no room to explore.
constexpr float max_noisy_mean = 2.0f;

/// Writes tanh(clip(mean) + departure), `count` numbers. A null departure means 0.
void squash(const float* mean, const float* departure, std::size_t count, float* actions);

}  // namespace troupe::detail
