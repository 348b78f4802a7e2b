#pragma once
// The names and shapes of the tensors in a network's block of parameters, as model files tell them.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "actors/networks/feature_extractor.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"

namespace troupe {

/// Tensors by name.
using named_tensors = std::vector<std::pair<std::string, at::Tensor>>;

/// Where a tensor lies in a block of parameters. Sizes are those of PyTorch's modules: the weight
/// of a linear layer is [out, in], whose strides tell that the block has it as [in, out].
struct tensor_place {
  std::string name;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;

  std::int64_t count() const;
};

/// The tensors of a block, in its order.
struct tensor_layout {
  std::vector<tensor_place> tensors;
  std::int64_t count = 0;  ///< P, the numbers of the block.

  /// Adds the layers of a perceptron: "NAME.0.weight", "NAME.0.bias", ..., and those of layer
  /// norms, "NAME.0.norm.weight" and "NAME.0.norm.bias".
  void add(const std::string& name, const detail::mlp& net);
  /// Adds the layers of an extractor, with `prefix` before their names.
  void add(const detail::feature_extractor& extractor, const std::string& prefix = "");
  void add(const encoder& network, const std::string& prefix = "");
  void add(std::string name, std::vector<std::int64_t> sizes);
  /// Adds a matrix [out, in] that the block has as [in, out].
  void add_transposed(std::string name, std::int64_t out, std::int64_t in);
};

/// Returns the layout of the parameters of a network. Names are "actor.N.weight",
/// "critic.N.weight", "log_std", those of feature_extractor, for DQN "q_net.N.weight" and for
/// tabular Q-learning "q_table" [S, A]; with normalize_obs the last ones are "obs_mean" and
/// "obs_inverse_scale". The networks of several policies lie one after another, with "POLICY."
/// before their names. Throws std::invalid_argument for an impossible shape.
tensor_layout layout_of(const network_shape& shape, const network_options& options);

/// Returns copies of the tensors of a block of floats, each contiguous.
named_tensors tensors_of(const tensor_layout& layout, const float* block);
/// Copies tensors into a block, those of the layout's names. Throws std::invalid_argument, with the
/// name and both shapes, if one is missing or has another shape; the block is then unchanged.
void copy_tensors(const tensor_layout& layout, const named_tensors& from, float* block);

/// Returns "actor.0.weight is [64, 8], expected [64, 4]" for the first tensor in which two layouts
/// differ; empty if there is none. `found` is the first one's layout.
std::string difference(const tensor_layout& found, const tensor_layout& expected);

}  // namespace troupe
