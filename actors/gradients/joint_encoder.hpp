#pragma once
// The encoder of a row with several observations, for central critics of several agents.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "actors/networks/encoder.hpp"
#include "actors/networks/network.hpp"

namespace troupe {

/// An observation, or a global state, in the row that a critic sees.
struct encoded_part {
  int begin = 0;  ///< Its first number in the row.
  int size = 0;   ///< The number of its numbers.

  bool operator==(const encoded_part&) const = default;
};

/// Returns the parts of what only the critics of a policy see, whose first number in their row is
/// `begin`: the observations of all agents, or the global state as a whole. None if they see
/// nothing more than the actor.
std::vector<encoded_part> central_parts(const network_shape& shape, std::size_t policy, int begin);

/// Returns an encoder of rows [rows, inputs] in which each of `parts` goes through the encoder of
/// that name, and other numbers are taken as they are. Features are in the order of the row. Parts
/// of equal size have the same parameters; those of parts of D numbers have "D." before their
/// names. Throws as make_encoder does, and std::invalid_argument unless the parts are in the order
/// of the row, inside of it and apart.
std::shared_ptr<const encoder> make_joint_encoder(const std::string& name, int inputs,
                                                  const std::vector<encoded_part>& parts);

}  // namespace troupe
