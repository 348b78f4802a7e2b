#pragma once
// The interface of what VDN and QMIX make of the values of a team's agents.

#include <cstddef>

#include "actors/gradients/graph.hpp"
#include "actors/networks/named_tensors.hpp"
#include "actors/random/action_random.hpp"

namespace troupe {

/// Mixes the values of N agents' choices into the value of what the team did, Q_tot. It grows with
/// each of them, so that what is best for each agent is best for the team. The value of an agent
/// that does not act is 0. The parameters are M floats, one after another.
///
/// It must not be used by two threads at once, because calls share work buffers.
class value_mixer {
 public:
  virtual ~value_mixer() = default;

  /// The names and shapes of the parameters; layout().count is M.
  virtual tensor_layout layout() const = 0;
  virtual void initialise(action_random& random, float* parameters) const = 0;

  /// Returns Q_tot [B, 1] of the values q [B, N] and the environment's observations `obs` [B, D].
  /// The parameters begin at the block's number `first`.
  virtual variable mix(variable obs, variable q, const parameter_block& block,
                       std::size_t first) = 0;
};

}  // namespace troupe
