#pragma once
// The central critic of COMA (Foerster et al. 2018, https://arxiv.org/abs/1705.08926, section 4).

#include <cstdint>
#include <memory>
#include <span>

#include "actors/gradients/graph.hpp"
#include "actors/kernels/float_block.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"

namespace troupe {

/// The critic Q(s, (u_-, .)) of the agents of one policy, with its target network. It sees a row of
/// critic_inputs and gives the value of each of the agent's n actions, so one pass gives all that a
/// counterfactual baseline needs (section 4, figure 1c). Parameters, targets and gradient are
/// blocks [Q]. It is computed on the CPU.
class central_critic {
 public:
  /// `options` have the hidden layers of the critic and the backend of its gradient. Throws
  /// std::invalid_argument if the backend is fused and can't compute the gradient.
  central_critic(int inputs, int actions, const network_options& options, action_random& random);

  const detail::mlp& network() const { return network_; }
  int inputs() const { return network_.inputs(); }    ///< I
  int actions() const { return network_.outputs(); }  ///< n
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
  detail::mlp network_;
  bool fused_;
  std::unique_ptr<graph> graph_;
  detail::float_block parameters_, target_, gradient_;  // [Q]
  detail::mlp_buffers buffers_;
};

}  // namespace troupe
