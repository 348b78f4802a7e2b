#pragma once
// The interface of what VDN and QMIX make of the values of a team's agents.

#include <cstddef>

#include <ATen/core/Tensor.h>

#include "actors/networks/named_tensors.hpp"
#include "actors/random/action_random.hpp"

namespace troupe {

/// Mixes the values q [B, N] of N agents' choices into the value of what the team did, Q_tot [B].
/// It grows with each of them, so that what is best for each agent is best for the team. The value
/// of an agent that does not act is 0. `obs` [B, D] are the environment's observations. The
/// parameters are one block of floats [M].
///
/// It must not be used by two threads at once, because calls share work buffers.
class value_mixer {
 public:
  virtual ~value_mixer() = default;

  /// The names and shapes of the parameters; layout().count is M, the number of floats.
  virtual tensor_layout layout() const = 0;
  virtual void initialise(action_random& random, float* parameters) const = 0;

  /// Writes Q_tot to `total` [B].
  virtual void mix(const float* parameters, const float* obs, const float* q, int rows,
                   float* total) = 0;
  /// Called after `mix` with the same arguments: writes the derivative of the loss by q to d_q
  /// [B, N] and by the parameters to `gradient` [M]. d_total [B] is its derivative by Q_tot.
  virtual void backward(const float* parameters, const float* obs, const float* q, int rows,
                        const float* d_total, float* d_q, float* gradient) = 0;

  /// Returns Q_tot [B] by libtorch's operators, with autograd. All tensors are float or all double.
  virtual at::Tensor mix(const at::Tensor& parameters, const at::Tensor& obs,
                         const at::Tensor& q) const = 0;
};

}  // namespace troupe
