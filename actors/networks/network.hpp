#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/kernels/activation.hpp"

namespace troupe {

/// Who works out a learner's gradients. `fused`: loops written by hand for a stack of dense
/// layers. `libtorch`: its operators and autograd. `automatic`: fused where the architecture
/// allows it, libtorch where not.
enum class gradient_backend { automatic, fused, libtorch };

/// What observations go through first. `automatic`: convolutions where they are images.
enum class network_body { automatic, mlp, cnn };

/// Convolutions without padding over an image, then one fully connected layer; a ReLU after each.
/// Defaults: Mnih et al. 2015, https://doi.org/10.1038/nature14236, extended data table 1.
struct cnn_options {
  std::vector<int> channels = {32, 64, 64};  ///< that each convolution makes
  std::vector<int> kernels = {8, 4, 3};      ///< height and width of each
  std::vector<int> strides = {4, 2, 1};      ///< of each
  int features = 512;                        ///< width of the fully connected layer

  bool operator==(const cnn_options&) const = default;
};

/// What a network's outputs are.
enum class network_kind {
  actor_critic,       ///< PPO's: a distribution of actions, and beside it a value
  q_values,           ///< DQN's: the value of each discrete action
  dueling_q_values,   ///< a dueling DQN's: the state's value, then each discrete action's advantage
  squashed_gaussian,  ///< SAC's: mean [A] and log standard deviation [A] before a tanh
  squashed,           ///< TD3's: an action [A] before a tanh
};

/// What an actor-critic network sees and which actions it gives. Exactly one of the three kinds of
/// action is set; the constructor of actor_critic refuses anything else.
struct network_shape {
  int obs_size = 0;                 ///< D, floats in one flattened observation
  int discrete_actions = 0;         ///< one categorical choice of this many; 0 if not discrete
  int continuous_size = 0;          ///< floats in one continuous action; 0 if not continuous
  std::vector<int> multi_discrete;  ///< several independent choices, each of this many
  std::vector<int> image;           ///< [channels, height, width] of bytes, or empty: no image

  bool is_continuous() const { return continuous_size > 0; }
  /// Sizes of the categorical choices, one for a discrete action, none for a continuous one.
  std::vector<int> choices() const;
  /// Numbers in one action: 1, the number of choices, or continuous_size.
  int action_size() const;
  /// Outputs of the actor: logits of all choices after one another, or the Gaussian's mean.
  int actor_outputs() const;

  bool operator==(const network_shape&) const = default;
};

/// Defaults are Stable-Baselines3's MlpPolicy.
struct network_options {
  network_body body = network_body::automatic;
  cnn_options cnn;                                ///< where the body is one
  std::vector<int> hidden = {64, 64};             ///< widths of the actor, and of the critic: of an
                                                  ///< mlp; after a cnn there are none
  std::optional<std::vector<int>> critic_hidden;  ///< none: the critic's are `hidden`, too
  activation hidden_activation = activation::tanh;
  bool ortho_init = true;     ///< orthogonal weights, zero biases; false: PyTorch's nn.Linear
  float log_std_init = 0.0f;  ///< start of the log standard deviations
  /// Generalised state-dependent exploration (actors/networks/state_dependent_noise.hpp), of
  /// continuous actions.
  bool use_sde = false;
  bool use_expln = false;    ///< with use_sde: standard deviations grow slowly above 1
  int sde_sample_freq = -1;  ///< steps between draws of its noise; -1: one draw a rollout
  gradient_backend backend = gradient_backend::automatic;
  bool normalize_obs = false;  ///< observations are brought to one scale by statistics of its own
  network_kind kind = network_kind::actor_critic;
  std::string device = "cpu";  ///< where it is worked out: cpu, cuda or cuda:N

  bool operator==(const network_options&) const = default;
};

/// Whether the network begins with convolutions. Throws std::invalid_argument if it should, but
/// the observations are no image.
bool has_convolutions(const network_shape& shape, const network_options& options);

/// Whether it is "cpu", "cuda" or "cuda:N".
bool is_device_name(const std::string& text);

const char* to_string(network_body body);
/// Throws std::invalid_argument naming those there are.
network_body network_body_of(const std::string& name);

/// "actor_critic", as a model file has it.
const char* to_string(network_kind kind);
/// Throws std::invalid_argument naming those there are.
network_kind network_kind_of(const std::string& name);

/// For messages: "obs 4, discrete 2, hidden 64-64 tanh".
std::string to_string(const network_shape& shape);
std::string to_string(const network_shape& shape, const network_options& options);

}  // namespace troupe
