#pragma once
// The acting network of the learners of DQN, SAC, TD3 and DDPG.

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

/// The network of an off-policy learner that acts, with its own weights. Of action values it takes
/// the action with the largest. Continuous actions are within -1..1; the caller scales them to the
/// environment's bounds. With use_sde the kind squashed_gaussian has the mean [A] alone, to which
/// state_dependent_noise is added. Calls share work buffers, so two threads must not use one object
/// at the same time.
class acting_policy {
 public:
  /// Weights are zero until initialise or load_parameters. Throws std::invalid_argument if the
  /// actions of the shape don't fit the kind, which replaces options.kind: action values need one
  /// discrete choice, the others continuous actions.
  acting_policy(const network_shape& shape, const network_options& options, network_kind kind);

  /// Draws initial weights like PyTorch's nn.Linear, or orthogonal ones with options.ortho_init.
  void initialise(action_random& random);

  const network_shape& shape() const { return shape_; }
  network_kind kind() const { return options_.kind; }
  /// The whole network.
  const detail::network_stack& stack() const { return stack_; }
  /// The perceptron on top of the extractor; the whole network if there is none.
  const detail::mlp& network() const { return stack_.top(); }
  bool use_sde() const { return noise_.has_value(); }
  bool use_expln() const { return options_.use_expln; }

  /// The parameters to publish, float [P]: those of the network and, with use_sde, log std [H, A].
  std::span<const float> parameters() const { return parameters_; }
  std::span<float> parameters() { return parameters_; }
  /// The log standard deviations [H, A] with use_sde, else empty.
  std::span<const float> log_std() const { return parameters().subspan(stack_.parameter_count()); }
  /// Copies weights [P] of an equal network. Throws std::invalid_argument if the size differs.
  void load_parameters(std::span<const float> parameters);

  /// Sets the amount of exploration when the policy does not act deterministically; it is 0 at
  /// first. With action values it is the probability of a uniformly random choice, drawn for each
  /// row. The kind squashed adds Gaussian noise of this standard deviation and clips to -1..1.
  /// The kind squashed_gaussian explores by itself and ignores it. Throws std::invalid_argument if
  /// it is negative or not finite.
  void set_exploration(double amount);
  double exploration() const { return exploration_; }

  /// Chooses actions for obs [rows, D].
  void act(const float* obs, int rows, action_random& random, bool deterministic,
           action_rows_out actions);

 private:
  network_shape shape_;
  network_options options_;
  double exploration_ = 0.0;
  detail::network_stack stack_;
  std::optional<detail::state_dependent_noise> noise_;  // with use_sde
  detail::float_block parameters_;
  detail::float_block outputs_;
  detail::stack_buffers buffers_;
};

}  // namespace troupe
