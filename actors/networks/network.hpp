#pragma once
// The shape and the options of a policy's network, as configurations, model files and learners use
// them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/kernels/activation.hpp"

namespace troupe {

/// The code that computes a learner's gradients. `fused`: loops written by hand for a stack of
/// dense layers. `libtorch`: libtorch's operators and autograd. `automatic`: fused if the
/// architecture allows it, otherwise libtorch.
enum class gradient_backend { automatic, fused, libtorch };

/// The first part of the network. `automatic`: convolutions if the observations are images,
/// otherwise an mlp.
enum class network_body { automatic, mlp, cnn };

/// Convolutions without padding over an image, followed by one fully connected layer, with a ReLU
/// after each. The defaults are those of Mnih et al. 2015, https://doi.org/10.1038/nature14236,
/// extended data table 1.
struct cnn_options {
  std::vector<int> channels = {32, 64, 64};  ///< The output channels of each convolution.
  std::vector<int> kernels = {8, 4, 3};      ///< The height and width of each kernel.
  std::vector<int> strides = {4, 2, 1};      ///< The stride of each convolution.
  int features = 512;                        ///< The width of the fully connected layer.

  bool operator==(const cnn_options&) const = default;
};

/// The meaning of a network's outputs.
enum class network_kind {
  actor_critic,       ///< PPO's: a distribution of actions and, from the critic, a value
  q_values,           ///< DQN's: the value of each discrete action
  dueling_q_values,   ///< dueling DQN's: the state's value, then each action's advantage
  squashed_gaussian,  ///< SAC's: mean [A] and log standard deviation [A] before a tanh
  squashed,           ///< TD3's: an action [A] before a tanh
};

/// The observations and actions of a network. Exactly one of the three kinds of action is set; the
/// constructor of actor_critic refuses anything else.
struct network_shape {
  int obs_size = 0;                      ///< D, the number of floats in a flattened observation
  int discrete_actions = 0;              ///< the number of discrete actions; 0 if not discrete
  int continuous_size = 0;               ///< floats in a continuous action; 0 if not continuous
  std::vector<int> multi_discrete = {};  ///< the number of options of each independent choice
  std::vector<int> image = {};  ///< [channels, height, width] of bytes; empty means no image

  bool is_continuous() const { return continuous_size > 0; }
  /// Returns the sizes of the categorical choices: one for a discrete action, none for a continuous
  /// one.
  std::vector<int> choices() const;
  /// Returns the count of numbers in one action: 1, the number of choices, or continuous_size.
  int action_size() const;
  /// Returns the number of the actor's outputs: the logits of all choices one after another, or the
  /// Gaussian's mean.
  int actor_outputs() const;

  bool operator==(const network_shape&) const = default;
};

/// Options of a network. The defaults are those of Stable-Baselines3's MlpPolicy.
struct network_options {
  network_body body = network_body::automatic;
  cnn_options cnn = {};  ///< Used if the body is a cnn.
  /// The widths of the hidden layers of an mlp, for the actor and the critic. After a cnn there are
  /// no hidden layers.
  std::vector<int> hidden = {64, 64};
  /// The widths of the critic's hidden layers; nullopt means `hidden`.
  std::optional<std::vector<int>> critic_hidden = {};
  activation hidden_activation = activation::tanh;
  /// Uses orthogonal weights and zero biases; false uses PyTorch's nn.Linear rule.
  bool ortho_init = true;
  /// The initial logarithm of the standard deviations.
  float log_std_init = 0.0f;
  /// Uses generalised state-dependent exploration (actors/networks/state_dependent_noise.hpp) for
  /// continuous actions.
  bool use_sde = false;
  /// Used with use_sde: standard deviations grow slowly above 1.
  bool use_expln = false;
  /// Used with use_sde: the number of steps between draws of the noise; -1 means one draw a
  /// rollout.
  int sde_sample_freq = -1;
  gradient_backend backend = gradient_backend::automatic;
  /// Normalises observations by statistics that belong to the network.
  bool normalize_obs = false;
  network_kind kind = network_kind::actor_critic;
  std::string device = "cpu";  ///< The device that computes the network: cpu, cuda or cuda:N.

  bool operator==(const network_options&) const = default;
};

/// Returns whether outputs of that kind are values of discrete actions.
bool has_action_values(network_kind kind);
/// Returns the number of outputs of the network that acts, which options.kind decides. The shape
/// must have actions of that kind.
int outputs_of(const network_shape& shape, const network_options& options);

/// Returns whether the network begins with convolutions. Throws std::invalid_argument if the
/// options ask for convolutions but the observations are no image.
bool has_convolutions(const network_shape& shape, const network_options& options);

/// Returns whether the text is "cpu", "cuda" or "cuda:N".
bool is_device_name(const std::string& text);

const char* to_string(network_body body);
/// Returns the body of that name. Throws std::invalid_argument, with the known names in its
/// message.
network_body network_body_of(const std::string& name);

/// Returns the name that model files contain, such as "actor_critic".
const char* to_string(network_kind kind);
/// Returns the kind of that name. Throws std::invalid_argument, with the known names in its
/// message.
network_kind network_kind_of(const std::string& name);

/// Returns a description for messages, such as "obs 4, discrete 2, hidden 64-64 tanh".
std::string to_string(const network_shape& shape);
std::string to_string(const network_shape& shape, const network_options& options);

}  // namespace troupe
