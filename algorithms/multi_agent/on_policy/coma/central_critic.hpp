#pragma once
// The central critic of COMA (Foerster et al. 2018, https://arxiv.org/abs/1705.08926, section 4).

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "actors/gradients/graph.hpp"
#include "actors/gradients/joint_encoder.hpp"
#include "actors/kernels/float_block.hpp"
#include "actors/networks/feature_extractor.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"

namespace troupe {

/// The critic Q(s, (u_-, .)) of the agents of one policy, with its target network. It sees a row of
/// critic_inputs and gives the value of each of the agent's n actions, so one pass gives all that a
/// counterfactual baseline needs (section 4, figure 1c). With policy.encoder, parts of the row go
/// through an encoder of the critic's own, whose parameters follow the layers'. Parameters, targets
/// and gradient are blocks [Q]. It is computed on the CPU.
class central_critic {
 public:
  /// `options` have the hidden layers of the critic and the backend of its gradient, and `parts`
  /// are those that go through their encoder. Throws std::invalid_argument if the backend is fused
  /// and can't compute the gradient.
  central_critic(int inputs, const std::vector<encoded_part>& parts, int actions,
                 const network_options& options, action_random& random);

  const detail::mlp& network() const { return network_; }  ///< The layers behind the encoder.
  int inputs() const { return extractor_ ? extractor_->inputs() : network_.inputs(); }  ///< I
  int actions() const { return network_.outputs(); }                                    ///< n
  bool is_fused() const { return fused_; }
  std::span<float> parameters() { return parameters_; }
  std::span<const float> parameters() const { return parameters_; }
  std::span<float> target() { return target_; }
  std::span<const float> target() const { return target_; }
  std::span<const float> gradient() const { return gradient_; }

  /// Writes the values q [rows, n] of rows x [rows, I].
  void values(const float* x, int rows, float* q);
  /// The same by the target network.
  void target_values(const float* x, int rows, float* q);
  /// Returns the loss of coma_critic_loss for rows x [rows, I], the actions taken [rows] and the
  /// targets [rows], and overwrites gradient().
  double differentiate(const float* x, int rows, const std::int64_t* choice, const float* target);
  /// Copies the parameters to the target network.
  void renew_target() { target_ = parameters_; }

 private:
  void values_by(std::span<const float> parameters, const float* x, int rows, float* q);

  std::optional<detail::feature_extractor> extractor_;
  detail::mlp network_;
  bool fused_;
  std::unique_ptr<graph> graph_;
  detail::float_block parameters_, target_, gradient_;  // [Q]
  detail::mlp_buffers buffers_;
  detail::extractor_buffers extractor_buffers_;
};

}  // namespace troupe
