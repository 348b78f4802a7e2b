#pragma once
// The critics of the learners of SAC, TD3, DDPG and MADDPG.

#include <optional>
#include <span>

#include "actors/gradients/graph.hpp"
#include "actors/kernels/float_block.hpp"
#include "actors/networks/device_link.hpp"
#include "actors/networks/feature_extractor.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"

namespace troupe::detail {

/// The critics Q_i(s, a) with their target networks. All parameters are in one block [Q], one
/// critic after the other, each padded to a whole cache line, so that one pass optimises them and
/// one pass averages the targets. A critic's input is a row of observation and action, [D + A]. If
/// observations have images or go through an encoder, the critics share a feature_extractor of
/// their own, as in Stable-Baselines3, and their input is features and action, [F + A]; its
/// parameters follow the critics'.
class critic_ensemble {
 public:
  critic_ensemble(const network_shape& shape, const network_options& options, int count);
  /// Makes critics whose observations go through `extractor`, if there is one.
  critic_ensemble(const network_shape& shape, const network_options& options, int count,
                  std::optional<feature_extractor> extractor);

  /// Draws random weights and copies them to the targets.
  void initialise(action_random& random, bool orthogonal);

  const mlp& network() const { return network_; }
  const std::optional<feature_extractor>& extractor() const { return extractor_; }
  /// The index of the extractor's first parameter.
  std::size_t extractor_offset() const { return stride_ * count_; }
  /// The way to the device that computes values().
  const device_link& link() const { return link_; }
  int count() const { return count_; }
  std::size_t parameter_count() const { return parameters_.size(); }  ///< Q
  /// The number of floats from one critic's parameters to those of the next.
  std::size_t stride() const { return stride_; }
  std::span<float> parameters() { return parameters_; }
  std::span<const float> parameters() const { return parameters_; }
  std::span<float> target() { return target_; }
  std::span<const float> target() const { return target_; }

  /// Computes Q_i(s, a) of all critics [rows, critics].
  variable values(variable obs, variable action, const parameter_block& block) const;
  /// Computes Q_1(s, a) [rows, 1].
  variable first_value(variable obs, variable action, const parameter_block& block) const;

 private:
  /// What all critics see, [rows, F + A].
  variable inputs_of(variable obs, variable action, const parameter_block& block) const;
  variable value_of(int critic, variable inputs, const parameter_block& block) const;

  int count_;
  std::optional<feature_extractor> extractor_;
  mlp network_;
  std::size_t stride_;
  float_block parameters_, target_;
  device_link link_;
};

}  // namespace troupe::detail
