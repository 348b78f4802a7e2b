#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "actors/networks/action_head.hpp"
#include "actors/networks/backend_choice.hpp"
#include "actors/networks/conv_trunk.hpp"
#include "actors/networks/device_link.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"
#include "actors/networks/state_dependent_noise.hpp"
#include "actors/random/action_random.hpp"

namespace troupe {

/// What act gives. N is the number of observations.
struct action_batch {
  at::Tensor action;    ///< int64 [N] (discrete), int64 [N, choices] or float [N, A], not clipped
  at::Tensor log_prob;  ///< float [N]
  at::Tensor value;     ///< float [N]
};

/// What evaluate gives, all float [N].
struct action_evaluation {
  at::Tensor log_prob;
  at::Tensor entropy;
  at::Tensor value;
};

/// The same without tensors, valid until the next call on the network that gave it.
struct evaluation_rows {
  const float* log_prob = nullptr;
  const float* entropy = nullptr;
  const float* value = nullptr;
};

/// Separate actor and critic perceptrons, as Stable-Baselines3's MlpPolicy. All parameters lie in
/// one flat float block [P]: actor, log_std (continuous actions only: [A], with use_sde [H, A]),
/// critic; the layers are views of it. The gradient is a second such block. So weights are copied
/// with one memcpy, hashed in one pass and optimised in one pass.
///
/// Where observations are images, actor and critic share convolutions, as Stable-Baselines3's
/// CnnPolicy, and are one linear layer each. The convolutions' parameters follow the critic's.
///
/// With normalize_obs the block ends with the mean [D] and the inverse scale [D] of observations,
/// which are set, not trained. So the statistics are of one version with the weights, in every
/// place where weights are: policies, evaluators, checkpoints, model files.
///
/// Two ways lead to the gradient: `evaluate` builds an autograd graph, for any loss;
/// `evaluate_rows` and `backward_rows` are hand-written, ten times faster for small networks, and
/// give the same.
///
/// Not for two threads at once: calls share work buffers.
class actor_critic {
 public:
  /// The seed decides the initial weights. Throws std::invalid_argument for an impossible shape.
  actor_critic(network_shape shape, network_options options, std::uint64_t seed);
  actor_critic(actor_critic&&) noexcept = default;
  actor_critic& operator=(actor_critic&&) noexcept = default;

  const network_shape& shape() const { return shape_; }
  const network_options& options() const { return options_; }
  /// Whether gradients come from the hand-written kernels; else from libtorch.
  bool is_fused() const { return backend_.fused; }
  const detail::backend_choice& backend() const { return backend_; }

  /// P
  std::int64_t parameter_count() const { return parameters_.numel(); }
  /// How many of the P are trained: all but the observations' statistics.
  std::int64_t trained_count() const { return gradient_.numel(); }
  /// The block itself, float [P]; writing to it changes the network.
  const at::Tensor& parameters() const { return parameters_; }
  /// The gradient of either way, float [trained_count()].
  const at::Tensor& gradient() const { return gradient_; }
  /// Copies weights [P] of an equal network. Throws c10::Error if the size differs.
  void load_parameters(const at::Tensor& parameters);
  /// Autograd leaves, views of parameters(): "actor.0.weight" [in, out], "actor.0.bias", "log_std",
  /// "critic.0.weight"..., "trunk.0.weight" [out, in, kernel, kernel]...; their .grad are views of
  /// gradient().
  std::vector<std::pair<std::string, at::Tensor>> named_parameters() const;
  /// exp(log_std): the standard deviations of continuous actions [A], with use_sde those of the
  /// noise matrix [H, A]; empty for discrete actions.
  std::vector<float> action_std() const;
  /// Numbers in a noise matrix, H A; 0 without use_sde.
  std::size_t noise_size() const { return noise_ ? noise_->size() : 0; }

  /// From now on the network sees clip((obs - mean) / sqrt(variance + 1e-8), -10, 10). Throws
  /// std::invalid_argument unless both are [D] and the network has normalize_obs.
  void set_obs_statistics(std::span<const double> mean, std::span<const double> variance);
  /// True: from now on obs are given normalised, as the network sees them, by whoever has the
  /// statistics of that moment. Nothing changes without normalize_obs.
  void take_normalized_obs(bool normalized) { obs_normalized_ = normalized; }

  /// Draws actions for obs float [N, D] (`deterministic`: takes the likeliest). No autograd.
  action_batch act(const at::Tensor& obs, action_random& random, bool deterministic = false);
  /// The same from and to plain memory: log_prob and value are [rows]. `noise`: with use_sde, the
  /// standard normals [H, A] that each row explores by; null: each row draws by itself.
  void act(const float* obs, int rows, action_random& random, bool deterministic,
           action_rows_out actions, float* log_prob, float* value,
           const float* const* noise = nullptr);

  /// V(obs), float [N], of obs [N, D]. No autograd.
  at::Tensor values(const at::Tensor& obs);
  void values(const float* obs, int rows, float* value);

  /// log-probability and entropy of given actions, and values, with autograd.
  action_evaluation evaluate(const at::Tensor& obs, const at::Tensor& action) const;
  void zero_gradient();

  /// The same by hand. `actions` as in act.
  evaluation_rows evaluate_rows(const float* obs, int rows, action_rows actions);
  /// After evaluate_rows with the same arguments: gradient() is overwritten with that of a loss
  /// whose derivatives by the three results are given, each [rows]. Throws c10::Error if the
  /// network has convolutions or is not on the CPU.
  void backward_rows(const float* obs, int rows, action_rows actions, const float* d_log_prob,
                     const float* d_entropy, const float* d_value);

 private:
  struct leaf_layer {
    at::Tensor weight;
    at::Tensor bias;
  };
  void make_trunk_leaves();
  std::vector<leaf_layer> make_leaves(const detail::mlp& net, std::int64_t offset) const;
  at::Tensor make_leaf(std::int64_t offset, at::IntArrayRef sizes) const;
  /// {what the last layer sees [N, H], the outputs}; x and both are on the device.
  std::pair<at::Tensor, at::Tensor> run_leaves(const std::vector<leaf_layer>& layers,
                                               at::Tensor x) const;
  void check_obs(const at::Tensor& obs) const;
  /// What actor and critic see of obs [rows, D]: obs itself, or in seen_ its normalised copy, or
  /// the convolutions' features [rows, F].
  const float* seen(const float* obs, int rows);
  bool normalizes() const { return options_.normalize_obs && !obs_normalized_; }
  const float* convolved(const float* obs, int rows);
  at::Tensor run_trunk(const at::Tensor& obs) const;
  /// mlp::forward and mlp::infer, on the device.
  const float* forward(const detail::mlp& net, const std::vector<leaf_layer>& layers,
                       const float* parameters, const float* x, int rows,
                       detail::mlp_buffers& buffers) const;
  void infer(const detail::mlp& net, const std::vector<leaf_layer>& layers, const float* parameters,
             const float* x, int rows, detail::mlp_buffers& buffers, float* y) const;
  /// After the actor's forward pass over x, what it saw.
  detail::log_std_rows find_log_std(const float* x, int rows);

  float* actor_parameters() const { return parameters_.data_ptr<float>(); }
  float* log_std() const { return actor_parameters() + actor_.parameter_count(); }
  float* critic_parameters() const { return log_std() + log_std_count(); }
  std::size_t log_std_count() const { return noise_ ? noise_->size() : shape_.continuous_size; }
  float* trunk_parameters() const { return critic_parameters() + critic_.parameter_count(); }
  float* obs_mean() const { return actor_parameters() + trained_count(); }
  float* obs_inverse_scale() const { return obs_mean() + shape_.obs_size; }

  network_shape shape_;
  network_options options_;
  bool obs_normalized_ = false;
  detail::device_link link_;
  std::optional<detail::conv_trunk> trunk_;
  detail::mlp actor_;
  detail::mlp critic_;
  detail::backend_choice backend_;
  detail::action_head head_;
  std::optional<detail::state_dependent_noise> noise_;  // with use_sde
  at::Tensor parameters_;
  at::Tensor gradient_;
  std::vector<leaf_layer> actor_leaves_;
  std::vector<leaf_layer> critic_leaves_;
  at::Tensor log_std_leaf_;
  std::vector<at::Tensor> trunk_leaves_;

  std::vector<float> seen_;
  detail::mlp_buffers actor_buffers_;
  detail::mlp_buffers critic_buffers_;
  detail::choice_buffers choices_;
  std::vector<float> outputs_;
  std::vector<float> d_outputs_;
  std::vector<float> d_log_std_;
  detail::log_std_rows evaluated_log_std_;
  std::vector<float> log_prob_;
  std::vector<float> entropy_;
};

}  // namespace troupe
