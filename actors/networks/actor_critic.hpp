#pragma once
// The actor-critic network: its parameters, acting and values. gradients/policy.hpp has it as a
// function of a graph, which learners train.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "actors/networks/action_head.hpp"
#include "actors/networks/backend_choice.hpp"
#include "actors/networks/device_link.hpp"
#include "actors/networks/feature_extractor.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"
#include "actors/networks/state_dependent_noise.hpp"
#include "actors/random/action_random.hpp"

namespace troupe {

/// The result of `act`, where N is the number of observations.
struct action_batch {
  /// int64 [N], int64 [N, P] or float [N, A], not clipped. Of actions with both kinds of numbers it
  /// has the integers, int64 [N, P].
  at::Tensor action;
  at::Tensor continuous;  ///< float [N, A] of actions with both kinds of numbers; else undefined
  at::Tensor log_prob;    ///< float [N]
  at::Tensor value;       ///< float [N]
};

/// Separate actor and critic perceptrons, as in Stable-Baselines3's MlpPolicy. All parameters lie
/// in one flat block of floats [P]: actor, log_std (for continuous actions only: [A], or [H, A]
/// with use_sde), critic. The layers are views of it. The gradient is a second such block. So
/// weights are copied with one memcpy, hashed in one pass and optimised in one pass.
///
/// If the shape has critic_only floats, only the critic sees these, as the central critic of
/// several agents (Lowe et al. 2017, https://arxiv.org/abs/1706.02275). If it has an action mask,
/// the logits of forbidden options are replaced by a very negative number, so that their
/// probability and their gradient are 0 (Huang and Ontanon 2022, https://arxiv.org/abs/2006.14171,
/// section 4).
///
/// If observations are images, actor and critic share convolutions, as in Stable-Baselines3's
/// CnnPolicy, and are one linear layer each. If they are a Dict or Tuple with images, actor and
/// critic share a feature_extractor, as in its MultiInputPolicy, and are perceptrons over the
/// features. Other extractors are the hidden layers that actor and critic share, and a user's
/// encoder. These see what the actor sees, and the critic sees the rest of the observation beside
/// the features. The extractor's parameters follow the critic's.
///
/// With normalize_obs the block ends with the mean [D] and the inverse scale [D] of observations,
/// which are set and not trained. So the statistics have the version of the weights wherever the
/// weights are: in policies, evaluators, checkpoints and model files.
///
/// A network must not be used by two threads at once, because calls share work buffers.
class actor_critic {
 public:
  /// The seed decides the initial weights. Throws std::invalid_argument for an impossible shape.
  actor_critic(network_shape shape, network_options options, std::uint64_t seed);
  actor_critic(actor_critic&&) noexcept = default;
  actor_critic& operator=(actor_critic&&) noexcept = default;

  const network_shape& shape() const { return shape_; }
  const network_options& options() const { return options_; }
  /// Returns whether Troupe's kernels compute gradients; otherwise libtorch does.
  bool is_fused() const { return backend_.fused; }
  const detail::backend_choice& backend() const { return backend_; }

  /// Returns P, the number of parameters.
  std::int64_t parameter_count() const { return parameters_.numel(); }
  /// Returns the number of trained parameters: all but the observations' statistics.
  std::int64_t trained_count() const { return gradient_.numel(); }
  /// Returns the block of parameters, float [P]. Writing to it changes the network.
  const at::Tensor& parameters() const { return parameters_; }
  /// Returns the memory of the gradient, float [trained_count()].
  const at::Tensor& gradient() const { return gradient_; }
  /// Copies weights [P] of an equal network. Throws c10::Error if the size differs.
  void load_parameters(const at::Tensor& parameters);
  /// Returns views of parameters(): "actor.0.weight" [in, out], "actor.0.bias", "log_std",
  /// "critic.0.weight"..., "trunk.0.weight" [out, in, kernel, kernel]... or other names of
  /// feature_extractor.
  std::vector<std::pair<std::string, at::Tensor>> named_parameters() const;
  /// Returns exp(log_std), the standard deviations of continuous actions [A], or with use_sde those
  /// of the noise matrix [H, A]. Empty for discrete actions.
  std::vector<float> action_std() const;
  /// Returns the count of numbers in a noise matrix, H A; 0 without use_sde.
  std::size_t noise_size() const { return noise_ ? noise_->size() : 0; }

  /// Sets the statistics: from now on the network sees clip((obs - mean) / sqrt(variance + 1e-8),
  /// -10, 10). Throws std::invalid_argument unless both are [D] and the network has normalize_obs.
  void set_obs_statistics(std::span<const double> mean, std::span<const double> variance);
  /// With true, the network takes the obs of later calls as already normalised by the caller and
  /// does not normalise them again. Has no effect without normalize_obs.
  void take_normalized_obs(bool normalized) { obs_normalized_ = normalized; }

  /// Declares that the weights change through load_parameters alone from now on. Then `act` and
  /// `values` copy them to the device once, not in every call.
  void keep_device_copy() { keeps_device_copy_ = !link_.is_host(); }

  /// Draws actions for obs float [N, D], or takes the likeliest ones if `deterministic`. No
  /// autograd.
  action_batch act(const at::Tensor& obs, action_random& random, bool deterministic = false);
  /// Acts on plain memory; log_prob and value are [rows]. `noise`, used with use_sde, has the
  /// standard normals [H, A] that each row explores with; null means that each row draws its own.
  void act(const float* obs, int rows, action_random& random, bool deterministic,
           action_rows_out actions, float* log_prob, float* value,
           const float* const* noise = nullptr);

  /// Returns V(obs), float [N], of obs [N, D]. No autograd.
  at::Tensor values(const at::Tensor& obs);
  void values(const float* obs, int rows, float* value);

  /// The parts of the network, and where in the block their parameters begin; the actor's are the
  /// first. log_std is [A], or [H, A] with use_sde.
  const detail::mlp& actor() const { return actor_; }
  const detail::mlp& critic() const { return critic_; }
  const detail::action_head& head() const { return head_; }
  const std::optional<detail::feature_extractor>& extractor() const { return extractor_; }
  std::size_t log_std_offset() const { return actor_.parameter_count(); }
  std::size_t critic_offset() const { return log_std_offset() + log_std_count(); }
  std::size_t extractor_offset() const { return critic_offset() + critic_.parameter_count(); }
  /// Returns whether the network normalises the obs of calls, by the mean and the inverse scale
  /// [2 D].
  bool normalizes_obs() const { return options_.normalize_obs && !obs_normalized_; }
  std::span<const float> obs_statistics() const {
    return {obs_mean(), static_cast<std::size_t>(2 * shape_.obs_size)};
  }
  /// The way to the device that computes the network.
  const detail::device_link& link() const { return link_; }

 private:
  std::vector<at::Tensor> views_of(const detail::mlp& net, std::size_t offset) const;
  at::Tensor view_of(std::size_t offset, at::IntArrayRef sizes) const;
  /// Returns a view on the device: one of the copy that is kept there, or a copy made now.
  at::Tensor there(const at::Tensor& view) const;
  void renew_device_copy();
  std::vector<at::Tensor> there(const std::vector<at::Tensor>& views) const;
  void check_obs(const at::Tensor& obs) const;
  /// Returns the input X of the critic for obs [rows, D]: obs itself, its normalised copy, or the
  /// extractor's features [rows, F] with the rest of the observation beside them. The actor's input
  /// is the first part of it.
  const float* seen(const float* obs, int rows);
  const float* normalised(const float* obs, int rows);
  const float* extracted(const float* obs, int rows);
  const float* convolved(const float* obs, int rows);
  /// Returns the actor's part of x [rows, X], what `seen` has returned: x itself, or a copy.
  const float* actor_part(const float* x, int rows);
  /// Replaces the logits of options that the masks in x [rows, X] forbid.
  void mask(const float* x, int rows, float* outputs) const;
  at::Tensor extract(const at::Tensor& obs) const;
  /// Like mlp::forward and mlp::infer, but on the device.
  const float* forward(const detail::mlp& net, const std::vector<at::Tensor>& layers,
                       const float* parameters, const float* x, int rows,
                       detail::mlp_buffers& buffers);
  void infer(const detail::mlp& net, const std::vector<at::Tensor>& layers, const float* parameters,
             const float* x, int rows, detail::mlp_buffers& buffers, float* y);

  float* actor_parameters() const { return parameters_.data_ptr<float>(); }
  float* log_std() const { return actor_parameters() + log_std_offset(); }
  float* critic_parameters() const { return actor_parameters() + critic_offset(); }
  std::size_t log_std_count() const { return noise_ ? noise_->size() : shape_.continuous_size; }
  float* extractor_parameters() const { return actor_parameters() + extractor_offset(); }
  float* obs_mean() const { return actor_parameters() + trained_count(); }
  float* obs_inverse_scale() const { return obs_mean() + shape_.obs_size; }

  network_shape shape_;
  network_options options_;
  bool obs_normalized_ = false;
  std::optional<detail::feature_extractor> extractor_;
  detail::mlp actor_;
  detail::mlp critic_;
  detail::device_link link_;
  detail::backend_choice backend_;
  detail::action_head head_;
  std::optional<detail::state_dependent_noise> noise_;  // set with use_sde
  at::Tensor parameters_;
  at::Tensor gradient_;
  std::vector<at::Tensor> actor_views_;
  std::vector<at::Tensor> critic_views_;
  at::Tensor log_std_view_;
  std::vector<at::Tensor> extractor_views_;
  bool keeps_device_copy_ = false;
  at::Tensor device_copy_;  // [P] on the device, if it is kept; undefined when it is out of date

  std::vector<float> normalised_;      // [rows, D]
  std::vector<float> extractor_seen_;  // [rows, inputs] if the extractor sees a part of D
  std::vector<float> features_;        // [rows, F] of libtorch's operators
  std::vector<float> joined_;          // [rows, X] if the critic sees more than features
  detail::extractor_buffers extractor_buffers_;
  std::vector<float> actor_seen_;  // [rows, actor_inputs()] if the critic sees more
  detail::mlp_buffers actor_buffers_;
  detail::mlp_buffers critic_buffers_;
  std::vector<float> outputs_;
};

}  // namespace troupe
