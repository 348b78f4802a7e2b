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

/// The first part of the network. `cnn`: convolutions over an image. `multi_input`: convolutions of
/// their own over each image of a Dict or Tuple, beside its other parts. `automatic`: what the
/// observations' images need, and an mlp without images.
enum class network_body { automatic, mlp, cnn, multi_input };

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
  /// Tabular Q-learning's: the value of each discrete action, from a table with a row for each
  /// state. It has no layers, and observations consist of one-hot parts (network_shape::states).
  q_table,
};

/// A part of an observation that has several: an element of a Dict or Tuple.
struct obs_part {
  std::string name;  ///< Its key; the keys of nested parts are joined by dots, as in "arm.camera".
  int offset = 0;    ///< The index of its first float in a flattened observation.
  int size = 0;      ///< The number of its floats.
  std::vector<int> image = {};  ///< as in network_shape
  int interleaved = 0;          ///< as in network_shape
  float image_high = 255;       ///< as in network_shape

  bool operator==(const obs_part&) const = default;
};

/// The rows that the network of one policy sees and the actions that it gives, in an environment
/// with several agents. The sizes are as in network_shape.
struct policy_shape {
  std::string name;  ///< The name, such as "chaser".
  /// The name of the scripted policy that acts in place of the network; empty means the network.
  std::string script = {};
  int scored = 1;  ///< 0 if the returns of its agents don't count in evaluations.
  int obs_size = 0;
  int critic_only = 0;
  int mask_size = 0;
  int discrete_actions = 0;
  int continuous_size = 0;
  std::vector<int> multi_discrete = {};
  int multi_binary = 0;

  bool operator==(const policy_shape&) const = default;
};

/// How a policy plays one agent. Its row for the agent consists of numbers of the environment's
/// observation row: [the agent's observation, its number among the policy's agents (one-hot), its
/// action mask, what only the critic sees]. Each part may be empty.
struct agent_view {
  std::string name;        ///< The agent's name, such as "adversary_0".
  int policy = 0;          ///< The index of its policy in network_shape::policies.
  int obs_begin = 0;       ///< The first number of its observation.
  int obs_size = 0;        ///< The number of these numbers.
  int id = 0;              ///< Its number among the agents of its policy.
  int ids = 0;             ///< How many these are; 0 means that the row has no number.
  int mask_begin = 0;      ///< The first number of its action mask; mask_size are in the row.
  int critic_begin = 0;    ///< The first number that only the critic sees, of critic_only ones.
  int integers_begin = 0;  ///< The first of its integers in the environment's action.
  int floats_begin = 0;    ///< The first of its floats in the environment's action.
  int active = -1;         ///< The number that says whether it acts; -1 means that it always does.

  bool operator==(const agent_view&) const = default;
};

/// The observations and actions of a network. An action has one kind of numbers, or several if it
/// is a tuple; `discrete_actions` then is 0, and its discrete parts are in multi_discrete. The
/// constructor of actor_critic refuses a shape without actions.
struct network_shape {
  int obs_size = 0;                      ///< D, the number of floats in a flattened observation
  int discrete_actions = 0;              ///< the number of discrete actions; 0 if not discrete
  int continuous_size = 0;               ///< floats in a continuous action; 0 if not continuous
  std::vector<int> multi_discrete = {};  ///< the number of options of each independent choice
  std::vector<int> image = {};           ///< [channels, height, width]; empty means no image
  /// The number of channels whose numbers of one pixel lie side by side, as in an image [height,
  /// width, channels]. 0 means that each channel is a plane of its own.
  int interleaved = 0;
  std::vector<obs_part> parts = {};  ///< the parts of a Dict or Tuple, in order; empty for others
  int multi_binary = 0;              ///< the number of zeros and ones in an action
  /// The last so many floats of an observation are for the critic alone.
  int critic_only = 0;
  /// The floats before those are an action mask: one for each option of multi_discrete or of
  /// discrete_actions, 1 if the option is allowed and 0 if it is forbidden. 0 means no mask.
  int mask_size = 0;
  /// The policies of an environment with several agents, each with a network of its own, and the
  /// agents that they play. Empty for a single agent. The other members then describe the
  /// environment's observations and actions as a whole.
  std::vector<policy_shape> policies = {};
  std::vector<agent_view> agents = {};
  float image_high = 255;  ///< The number by which those of an image are divided.
  /// The sizes of the one-hot parts of which an observation of a q_table consists. Its state is the
  /// index of all of them together, in which that of the last part varies fastest. Empty for other
  /// networks.
  std::vector<int> states = {};

  /// Returns the number of states of a q_table: the product of `states`.
  std::int64_t state_count() const;
  /// Returns the number of floats that the actor sees.
  int actor_inputs() const { return obs_size - critic_only - mask_size; }
  bool is_continuous() const { return continuous_size > 0; }
  /// Returns the numbers of options of the choices that have one logit for each option.
  std::vector<int> categories() const;
  /// Returns the number of values of each integer of an action [P]: first the categories, then 2
  /// for each zero or one, which has a single logit.
  std::vector<int> choices() const;
  /// Returns P, the number of integers in one action; 0 if it is only continuous.
  int choice_count() const;
  /// Returns the count of all numbers in one action, P + continuous_size.
  int action_size() const { return choice_count() + continuous_size; }
  /// Returns the number of the actor's outputs: the Gaussian's mean, then the logits of all
  /// categories, then the logits of the zeros and ones.
  int actor_outputs() const;

  bool operator==(const network_shape&) const = default;
};

/// Returns the shape of the network of a policy.
network_shape shape_of(const policy_shape& policy);

/// Returns whether a network of shape `model` is one for `needed`. A model of an older version
/// doesn't name the parts of its observations; they are then taken for the needed ones if none is
/// an image. A model of several policies is compared as a whole, and so is a q_table.
bool fits(const network_shape& model, const network_shape& needed);

/// Options of a network. The defaults are those of Stable-Baselines3's MlpPolicy.
struct network_options {
  network_body body = network_body::automatic;
  cnn_options cnn = {};  ///< Used if the body is a cnn, and for the images of multi_input.
  /// The widths of the hidden layers of the actor and the critic. After a cnn there are no hidden
  /// layers.
  std::vector<int> hidden = {64, 64};
  /// The widths of the critic's hidden layers; nullopt means `hidden`.
  std::optional<std::vector<int>> critic_hidden = {};
  /// The widths of the first hidden layers of an actor_critic, which actor and critic share. They
  /// stand before `hidden` and `critic_hidden`.
  std::vector<int> shared_hidden = {};
  activation hidden_activation = activation::tanh;
  /// Each hidden layer has a layer norm between its product and its activation, as those of
  /// Hiraoka et al. 2022, https://arxiv.org/abs/2110.02034, have.
  bool layer_norm = false;
  /// The name of a network that a program or a plug-in has registered (encoder.hpp). The layers of
  /// actor and critic stand on its features. Empty means none.
  std::string encoder = {};
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
/// options ask for a body that the observations don't have.
bool has_convolutions(const network_shape& shape, const network_options& options);
/// Returns the widths of the hidden layers after the network's body: `hidden`, or none after the
/// cnn of an actor_critic or of action values, as in Stable-Baselines3.
std::vector<int> hidden_after_body(const network_shape& shape, const network_options& options,
                                   const std::vector<int>& hidden);

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
