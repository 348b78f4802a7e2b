#pragma once
// The critics of the learners of SAC, TD3 and DDPG.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "actors/gradients/graph.hpp"
#include "actors/kernels/float_block.hpp"
#include "actors/networks/device_link.hpp"
#include "actors/networks/feature_extractor.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe::detail {

/// The critics Q_i(s, a) of SAC and TD3 with their target networks and hand-written gradients. All
/// parameters are in one block [Q], one critic after the other, each padded to a whole cache line,
/// so that one pass optimises them and one pass averages the targets. A critic's input is a row of
/// observation and action, [D + A]. If observations have images, the critics share a
/// feature_extractor, as in Stable-Baselines3, and their input is features and action, [F + A]; its
/// parameters follow the critics'. There are no hand-written gradients then, nor on a device other
/// than the CPU.
class critic_ensemble {
 public:
  critic_ensemble(const network_shape& shape, const network_options& options, int count);

  /// Draws random weights and copies them to the targets.
  void initialise(action_random& random, bool orthogonal);

  const mlp& network() const { return network_; }
  const std::optional<feature_extractor>& extractor() const { return extractor_; }
  /// The index of the extractor's first parameter.
  std::size_t extractor_offset() const { return stride_ * count_; }
  /// The way to the device that computes critic_values.
  const device_link& link() const { return link_; }
  int count() const { return count_; }
  std::size_t parameter_count() const { return parameters_.size(); }  ///< Q
  /// The number of floats from one critic's parameters to those of the next.
  std::size_t stride() const { return stride_; }
  std::span<float> parameters() { return parameters_; }
  std::span<const float> parameters() const { return parameters_; }
  std::span<float> target() { return target_; }
  std::span<const float> target() const { return target_; }
  std::span<float> gradient() { return gradient_; }
  std::span<const float> gradient() const { return gradient_; }

  /// Computes Q_i(s, a) [rows, among] of the first `among` critics, or of all of them.
  variable values(variable obs, variable action, const parameter_block& block) const;
  variable values(variable obs, variable action, const parameter_block& block, int among) const;

  /// Computes y [B] = min over target critics of Q_i(next_obs, next_action [B, A]).
  void smallest_target(const transition_batch& batch, const float* next_action, float* y);

  /// Computes q [B, K] = Q_i(next_obs, next_action [B, A]) for each of the K target critics.
  void target_values(const transition_batch& batch, const float* next_action, float* q);

  struct fit_result {
    double loss = 0.0;
    double q_mean = 0.0;  ///< The mean Q(s, a) of the first critic.
  };
  /// Computes the loss, `scale` times the sum over critics of the mean of weight (Q_i(s, a) - y)^2,
  /// and writes its derivative to gradient(). td_error [B] is the mean over critics of
  /// |Q_i(s, a) - y|.
  fit_result fit(const transition_batch& batch, const float* y, float scale, float* td_error);

  /// Computes, for actions [B, A] in the batch's observations, value [B], the smallest value of the
  /// first `among` critics, and its derivative by the action, d_action [B, A].
  void value_and_slope(const transition_batch& batch, const float* action, int among, float* value,
                       float* d_action);

 private:
  const float* join(const std::vector<float>& obs, const float* action, int rows,
                    float_block& joined);

  int obs_size_;
  int action_size_;
  int count_;
  std::optional<feature_extractor> extractor_;
  mlp network_;
  std::size_t stride_;
  float_block parameters_, target_, gradient_;
  device_link link_;
  float_block joined_, d_q_, slope_;
  std::vector<int> smallest_;
  std::vector<mlp_buffers> buffers_;             // one for each critic
  mutable std::vector<variable> critic_values_;  // the memory of values()
};

}  // namespace troupe::detail
