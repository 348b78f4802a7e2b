#pragma once
// The network of the off-policy algorithms: an optional convolutional body and a perceptron.

#include <cstddef>
#include <optional>

#include <ATen/core/Tensor.h>

#include "actors/networks/conv_trunk.hpp"
#include "actors/networks/device_link.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"

namespace troupe::detail {

/// The network of an off-policy policy: a perceptron or, if observations are images, convolutions
/// followed by one linear layer. It has no state: each call gets the parameters as a flat block of
/// `parameter_count()` floats. The convolutions' parameters follow the perceptron's.
class network_stack {
 public:
  /// Throws std::invalid_argument as conv_trunk and device_link do. Also throws it for continuous
  /// actions with convolutions or on another device than the CPU: the algorithms with such actions
  /// support neither.
  network_stack(const network_shape& shape, const network_options& options, int outputs,
                activation output_activation = activation::linear);

  std::size_t parameter_count() const;
  int inputs() const { return trunk_ ? trunk_->inputs() : top_.inputs(); }
  int outputs() const { return top_.outputs(); }
  bool has_convolutions() const { return trunk_.has_value(); }
  bool is_on_host() const { return link_.is_host(); }
  /// Returns the perceptron: the part after the convolutions, or the whole network if there are
  /// none.
  const mlp& top() const { return top_; }

  /// Initialises all weights; the convolutions follow the same rule as the perceptron.
  void initialise(action_random& random, bool orthogonal, double output_gain,
                  float* parameters) const;

  /// Returns the outputs [N, outputs] of x [N, inputs] by libtorch's operators, with autograd. The
  /// parameters [P], x and the outputs are on the host, all float or all double, whichever device
  /// computes them.
  at::Tensor forward(const at::Tensor& parameters, const at::Tensor& x) const;
  /// Computes the outputs without autograd, from and to plain memory.
  void infer(const float* parameters, const float* x, int rows, mlp_buffers& buffers,
             float* y) const;

 private:
  device_link link_;
  std::optional<conv_trunk> trunk_;
  mlp top_;
};

}  // namespace troupe::detail
