#pragma once
#include <cstddef>
#include <vector>

#include "actors/kernels/float_block.hpp"
#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"

namespace troupe::detail {

/// One fully connected layer inside a flat block of parameters: weight [in, out] row-major (the
/// transpose of PyTorch's), then bias [out].
struct dense_layer {
  int in = 0;
  int out = 0;
  std::size_t weight = 0;  ///< offset of the weight
  std::size_t bias = 0;    ///< offset of the bias
};

/// What a forward pass leaves for the backward pass. One a thread of use; grows, never shrinks.
struct mlp_buffers {
  std::vector<float_block> outputs;  ///< of each layer, [rows, out]
  float_block d_output;              ///< gradient of the layer at work
  float_block d_input;
  float_block transposed;
};

/// A multilayer perceptron without state: its parameters, a flat block of `parameter_count()`
/// floats, are given to each call.
class mlp {
 public:
  mlp(int inputs, const std::vector<int>& hidden, int outputs, activation hidden_activation,
      activation output_activation = activation::linear);

  std::size_t parameter_count() const { return parameter_count_; }
  const std::vector<dense_layer>& layers() const { return layers_; }
  activation hidden_activation() const { return hidden_activation_; }
  activation output_activation() const { return output_activation_; }
  int inputs() const { return layers_.front().in; }
  int outputs() const { return layers_.back().out; }
  /// H, what the last layer sees: the outputs of the last hidden layer, or the inputs.
  int features() const { return layers_.back().in; }
  /// The same of a forward pass over x [rows, inputs]: [rows, H], until the next.
  const float* features_of(const float* x, const mlp_buffers& buffers) const {
    return layers_.size() > 1 ? buffers.outputs[layers_.size() - 2].data() : x;
  }
  /// Whether backward can be used; otherwise gradients come from libtorch.
  bool has_backward() const;

  /// Orthogonal weights (Saxe et al. 2014, https://arxiv.org/abs/1312.6120): gain sqrt(2), the
  /// last layer `output_gain`, biases zero.
  void initialise_orthogonal(action_random& random, double output_gain, float* parameters) const;
  /// PyTorch's nn.Linear: weights and biases uniform within 1 / sqrt(in).
  void initialise_uniform(action_random& random, float* parameters) const;

  /// x [rows, inputs]; returns the outputs [rows, outputs], kept in `buffers` with all that
  /// backward needs.
  const float* forward(const float* parameters, const float* x, int rows,
                       mlp_buffers& buffers) const;

  /// As forward, into y [rows, outputs], in blocks that stay in the cache.
  void infer(const float* parameters, const float* x, int rows, mlp_buffers& buffers,
             float* y) const;

  /// After forward with the same x: gradient [parameter_count()] is overwritten with that of the
  /// loss whose derivative by the outputs is d_outputs [rows, outputs]. `d_features` [rows, H]:
  /// what the loss depends on features_of besides; null: it doesn't.
  void backward(const float* parameters, const float* x, int rows, const float* d_outputs,
                mlp_buffers& buffers, float* gradient, const float* d_features = nullptr) const;

  /// After forward: the derivative by `count` inputs from `first` on alone, d_x [rows, count].
  /// What an actor learns from its critic: dQ/da.
  void backward_inputs(const float* parameters, int rows, const float* d_outputs,
                       mlp_buffers& buffers, int first, int count, float* d_x) const;

 private:
  activation activation_of(std::size_t layer) const;
  const float* through_output(int rows, const float* d_outputs, mlp_buffers& buffers) const;
  const float* through_layer(std::size_t i, const float* parameters, int rows,
                             const float* d_output, mlp_buffers& buffers,
                             const float* d_features = nullptr) const;

  activation hidden_activation_;
  activation output_activation_;
  std::vector<dense_layer> layers_;
  std::size_t parameter_count_ = 0;
};

}  // namespace troupe::detail
