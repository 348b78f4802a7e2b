#pragma once
// The perceptron, which all networks here are built of. gradients/perceptron.hpp has it as a
// function of a graph.

#include <cstddef>
#include <vector>

#include "actors/kernels/float_block.hpp"
#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"

namespace troupe::detail {

/// One fully connected layer inside a flat block of parameters: the weight [in, out], row-major
/// (the transpose of PyTorch's), then the bias [out]. A layer norm between the product and the
/// activation has its scale [out] and its shift [out] behind these.
struct dense_layer {
  int in = 0;
  int out = 0;
  std::size_t weight = 0;  ///< the offset of the weight in the block
  std::size_t bias = 0;    ///< the offset of the bias in the block
  std::size_t scale = 0;   ///< the offset of the layer norm's scale; 0 means no layer norm
  std::size_t shift = 0;   ///< the offset of the layer norm's shift

  bool is_normalised() const { return scale > 0; }
};

/// The layers of a perceptron that have a layer norm.
enum class normalised_layers { none, hidden, all };

/// The results of a forward pass. Each thread needs its own. The buffers grow and never shrink.
struct mlp_buffers {
  std::vector<float_block> outputs;  ///< the outputs of each layer, [rows, out]
};

/// A multilayer perceptron. It has no state: each call gets the parameters as a flat block of
/// `parameter_count()` floats.
class mlp {
 public:
  mlp(int inputs, const std::vector<int>& hidden, int outputs, activation hidden_activation,
      activation output_activation = activation::linear,
      normalised_layers normalised = normalised_layers::none);

  std::size_t parameter_count() const { return parameter_count_; }
  const std::vector<dense_layer>& layers() const { return layers_; }
  activation hidden_activation() const { return hidden_activation_; }
  activation output_activation() const { return output_activation_; }
  int inputs() const { return layers_.front().in; }
  int outputs() const { return layers_.back().out; }
  /// Returns H, the width of the last layer's input, which is the last hidden layer or else x.
  int features() const { return layers_.back().in; }
  /// Returns the last layer's input [rows, H] in a forward pass over x [rows, inputs]. It is valid
  /// until the next pass.
  const float* features_of(const float* x, const mlp_buffers& buffers) const {
    return layers_.size() > 1 ? buffers.outputs[layers_.size() - 2].data() : x;
  }
  /// Returns whether Troupe's kernels can compute its gradient. Otherwise libtorch does.
  bool has_backward() const;

  /// Draws orthogonal weights (Saxe et al. 2014, https://arxiv.org/abs/1312.6120). The gain is
  /// sqrt(2), in the last layer `output_gain`. Biases are zero. A layer norm begins with the scale
  /// 1 and the shift 0, here and with initialise_uniform.
  void initialise_orthogonal(action_random& random, double output_gain, float* parameters) const;
  /// Draws weights and biases uniformly within 1 / sqrt(in), as PyTorch's nn.Linear.
  void initialise_uniform(action_random& random, float* parameters) const;

  /// Returns the outputs [rows, outputs] of x [rows, inputs]. `buffers` keeps them
  /// and the outputs of the other layers.
  const float* forward(const float* parameters, const float* x, int rows,
                       mlp_buffers& buffers) const;

  /// Writes the outputs to y [rows, outputs]. It works in blocks of rows that stay in the cache.
  void infer(const float* parameters, const float* x, int rows, mlp_buffers& buffers,
             float* y) const;

 private:
  activation activation_of(std::size_t layer) const;
  void initialise_norms(float* parameters) const;

  activation hidden_activation_;
  activation output_activation_;
  std::vector<dense_layer> layers_;
  std::size_t parameter_count_ = 0;
};

/// Returns a perceptron with the activation and the layer norms of a network's options.
mlp make_mlp(const network_options& options, int inputs, const std::vector<int>& hidden,
             int outputs, activation output_activation = activation::linear);
/// Returns the perceptron of options.shared_hidden, all layers of which are hidden ones.
mlp make_shared_layers(const network_options& options, int inputs);

}  // namespace troupe::detail
