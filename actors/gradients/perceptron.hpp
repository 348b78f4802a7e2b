#pragma once
// Networks as functions of a graph.

#include "actors/gradients/graph.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/networks/network_stack.hpp"

namespace troupe {

/// A perceptron's outputs, and the input of its last layer.
struct perceptron_outputs {
  variable features;  ///< [rows, H]
  variable outputs;   ///< [rows, outputs]
};

/// Computes the perceptron's outputs of x [rows, inputs]. Its parameters begin at the block's
/// number `first`.
perceptron_outputs perceptron(const detail::mlp& net, variable x, const parameter_block& block,
                              std::size_t first = 0);

/// Computes the features [rows, F] of observations x [rows, D]. The extractor's parameters begin at
/// the block's number `first`.
variable features(const detail::feature_extractor& extractor, variable x,
                  const parameter_block& block, std::size_t first);

/// Computes the outputs of a network with its extractor, if it has one, of observations x [rows,
/// inputs]. Its parameters begin at the block's number `first`.
perceptron_outputs forward(const detail::network_stack& net, variable x,
                           const parameter_block& block, std::size_t first = 0);

}  // namespace troupe
