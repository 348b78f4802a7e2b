#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "actors/environments/space.hpp"
#include "actors/networks/action_head.hpp"
#include "actors/networks/network_stack.hpp"
#include "actors/networks/state_dependent_noise.hpp"

namespace troupe {

/// The bounds [A] of a box, between which actions of [-1, 1] are stretched.
class action_scale {
 public:
  action_scale() = default;
  /// Throws std::invalid_argument unless `actions` is a box with finite bounds.
  explicit action_scale(const space& actions);

  /// low + (action + 1) / 2 * (high - low), for rows of [A].
  void stretch(float* actions, std::size_t rows) const;

 private:
  std::vector<float> low_, high_;
};

/// The network of an off-policy policy, as far as acting needs it: from observations to what
/// network_kind says. Its parameters are a flat float block, as detail::network_stack lays it out,
/// with use_sde followed by log std [H, A], and with normalize_obs at the end by the scale of
/// observations, see obs_scale.hpp.
///
/// Not for two threads at once: calls share work buffers.
class single_network {
 public:
  /// Throws std::invalid_argument if the kind gives no such actions.
  single_network(const network_shape& shape, const network_options& options);

  /// The first floats of these; there must be enough.
  void load_parameters(const at::Tensor& parameters);
  std::int64_t parameter_count() const;

  /// With use_sde, the noise that each of so many rows explores by from now on. Else nothing.
  void draw_noise(int rows, action_random& random);

  /// Continuous actions lie within [-1, 1]. Where the kind has a distribution they are drawn
  /// unless `deterministic`: with use_sde by the noise of draw_noise, if there is one for each row.
  void act(const float* obs, int rows, action_random& random, bool deterministic,
           action_rows_out actions);

 private:
  void act_with_noise(const float* obs, int rows, action_random& random, bool deterministic,
                      float* actions);

  network_kind kind_;
  bool normalize_obs_;
  int actions_;  // n, or A
  detail::network_stack net_;
  detail::mlp_buffers buffers_;
  std::vector<float> parameters_;
  std::vector<float> outputs_;
  std::vector<float> seen_;                             // [rows, D] with normalize_obs
  std::optional<detail::state_dependent_noise> noise_;  // with use_sde
  std::vector<float> matrices_;                         // [rows, H, A]
  std::vector<const float*> matrix_of_;                 // of each row
};

/// A network that acts, of any kind, on an environment's own scale.
class acting_network {
 public:
  virtual ~acting_network() = default;
  virtual void load_parameters(const at::Tensor& parameters) = 0;
  virtual void act(const float* obs, int rows, action_random& random, bool deterministic,
                   action_rows_out actions) = 0;
};

/// Throws std::invalid_argument if the kind does not fit `actions`, the environment's space.
std::unique_ptr<acting_network> make_acting_network(const network_shape& shape,
                                                    const network_options& options,
                                                    const space& actions, std::uint64_t seed);

}  // namespace troupe
