#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "actors/kernels/float_block.hpp"
#include "actors/networks/action_head.hpp"
#include "actors/networks/network.hpp"
#include "actors/networks/network_stack.hpp"
#include "actors/networks/state_dependent_noise.hpp"
#include "actors/random/action_random.hpp"

namespace troupe {

/// How the outputs of the acting network become an action.
enum class acting_kind {
  greedy,          ///< DQN: the choice of the largest of n action values
  greedy_dueling,  ///< the same of n advantages, which follow one state value
  /// SAC: tanh of a Gaussian, outputs mean [A] then log standard deviation [A]; with use_sde mean
  /// [A] alone, explored around by state_dependent_noise
  squashed_gaussian,
  deterministic,  ///< TD3 and DDPG: tanh of A outputs
};

/// The network of an off-policy learner that acts, with weights of its own: what a rollout actor
/// needs. Continuous actions are within -1..1; the caller scales them to the environment's bounds.
///
/// Not for two threads at once: calls share work buffers.
class acting_policy {
 public:
  /// Weights are zero until initialise or load_parameters. Throws std::invalid_argument if the
  /// shape has no such actions: greedy needs one discrete choice, the others continuous actions.
  acting_policy(const network_shape& shape, const network_options& options, acting_kind kind);

  /// PyTorch's nn.Linear, or orthogonal with options.ortho_init.
  void initialise(action_random& random);

  const network_shape& shape() const { return shape_; }
  acting_kind kind() const { return kind_; }
  /// All of it, and its perceptron, which is all where there are no convolutions.
  const detail::network_stack& stack() const { return stack_; }
  const detail::mlp& network() const { return stack_.top(); }
  bool use_sde() const { return noise_.has_value(); }
  bool use_expln() const { return options_.use_expln; }

  /// float [P], the block to publish: the network's, with use_sde followed by log std [H, A].
  std::span<const float> parameters() const { return parameters_; }
  std::span<float> parameters() { return parameters_; }
  /// With use_sde [H, A], else empty.
  std::span<const float> log_std() const { return parameters().subspan(stack_.parameter_count()); }
  /// Copies weights [P] of an equal network. Throws std::invalid_argument if the size differs.
  void load_parameters(std::span<const float> parameters);

  /// What is added to the policy when it doesn't act deterministically: greedy takes a uniformly
  /// random choice with this probability, one draw for each row; deterministic adds Gaussian noise
  /// of this standard deviation and clips to -1..1; squashed_gaussian explores by itself and
  /// ignores it. 0 at first. Throws std::invalid_argument if it is negative or not finite.
  void set_exploration(double amount);
  double exploration() const { return exploration_; }

  /// Actions for obs [rows, D].
  void act(const float* obs, int rows, action_random& random, bool deterministic,
           action_rows_out actions);

 private:
  network_shape shape_;
  network_options options_;
  acting_kind kind_;
  double exploration_ = 0.0;
  detail::network_stack stack_;
  std::optional<detail::state_dependent_noise> noise_;  // with use_sde
  detail::float_block parameters_;
  detail::float_block outputs_;
  detail::mlp_buffers buffers_;
};

}  // namespace troupe
