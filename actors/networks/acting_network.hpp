#pragma once
// Networks of every kind as far as acting needs them. Evaluation and the off-policy collectors use
// them.

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "actors/environments/scripted_policy.hpp"
#include "actors/environments/space.hpp"
#include "actors/networks/action_head.hpp"
#include "actors/networks/network_stack.hpp"
#include "actors/networks/state_dependent_noise.hpp"

namespace troupe {

/// The bounds [A] of a box, or those of a Tuple of boxes one after another. Actions in [-1, 1] are
/// scaled to them.
class action_scale {
 public:
  action_scale() = default;
  /// Throws std::invalid_argument unless `actions` is a box with finite bounds, or a Tuple of them.
  explicit action_scale(const space& actions);

  bool empty() const { return low_.empty(); }
  /// Replaces each of `rows` actions [A] by low + (action + 1) / 2 * (high - low).
  void stretch(float* actions, std::size_t rows) const;
  /// Does the opposite, and clips the results to [-1, 1]. A number whose bounds are equal is 0.
  void shrink(float* actions, std::size_t rows) const;

 private:
  void add(const space& actions);

  std::vector<float> low_, high_;
};

/// The network of an off-policy policy as far as acting needs it: it maps observations to the
/// outputs of its network_kind. The parameters are one flat block of floats: first those of
/// detail::network_stack, or a table [S, A], then with use_sde log std [H, A], then with
/// normalize_obs the scale of observations (see obs_scale.hpp). Of action values it takes the
/// largest that the shape's action mask allows.
///
/// It must not be used by two threads at once, because calls share work buffers.
class single_network {
 public:
  /// Throws std::invalid_argument if the kind can't give the shape's actions, and for normalize_obs
  /// with an action mask.
  single_network(const network_shape& shape, const network_options& options);

  /// Copies the first parameter_count() floats of `parameters`. Throws c10::Error if there are
  /// fewer.
  void load_parameters(const at::Tensor& parameters);
  std::int64_t parameter_count() const;

  /// With use_sde, draws the noise that each of `rows` rows explores with from now on. Does nothing
  /// otherwise.
  void draw_noise(int rows, action_random& random);

  /// Writes an action for each row. Continuous actions lie within [-1, 1]. If the kind has a
  /// distribution, the actions are drawn unless `deterministic`. With use_sde they are drawn with
  /// the noise of draw_noise, if there is one for each row.
  void act(const float* obs, int rows, action_random& random, bool deterministic,
           action_rows_out actions);

 private:
  const float* inputs_of(const float* obs, int rows);
  void act_by_table(const float* obs, int rows, std::int64_t* choice) const;
  void act_with_noise(const float* obs, int rows, action_random& random, bool deterministic,
                      float* actions);

  network_kind kind_;
  bool normalize_obs_;
  int obs_size_;             // D
  bool masked_;              // rows have an action mask behind the network's inputs
  int actions_;              // the number of discrete actions, or A
  std::vector<int> states_;  // of a q_table
  detail::network_stack net_;
  detail::stack_buffers buffers_;
  std::vector<float> parameters_;
  at::Tensor device_copy_;  // of the network's parameters; undefined on the CPU
  std::vector<float> outputs_;
  std::vector<float> seen_;  // [rows, inputs] if the network does not see the rows as they are
  std::optional<detail::state_dependent_noise> noise_;  // set with use_sde
  std::vector<float> matrices_;                         // [rows, H, A]
  std::vector<const float*> matrix_of_;                 // the matrix of each row
};

/// The interface of a network of any kind that acts. Continuous actions are on the environment's
/// own scale; integers are choices, which choice_map makes the environment's.
class acting_network {
 public:
  virtual ~acting_network() = default;
  virtual void load_parameters(const at::Tensor& parameters) = 0;
  virtual void act(const float* obs, int rows, action_random& random, bool deterministic,
                   action_rows_out actions) = 0;
};

/// Makes the scripted policies of a shape (actors/worlds/scripted_policies.hpp).
using scripted_policy_maker =
    std::function<std::unique_ptr<scripted_policy>(const scripted_policy_request&)>;

/// Makes the network for `actions`, the action space of the environment. A shape with several
/// policies gets a network for each; its integers are those of the environment, for which
/// choice_map is not needed; `script` makes its scripted policies. Throws
/// std::invalid_argument if the kind does not fit it.
std::unique_ptr<acting_network> make_acting_network(const network_shape& shape,
                                                    const network_options& options,
                                                    const space& actions, std::uint64_t seed,
                                                    const scripted_policy_maker& script = nullptr);

}  // namespace troupe
