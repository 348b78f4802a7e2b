#pragma once
#include <cstddef>
#include <optional>

#include <ATen/core/Tensor.h>

#include "actors/networks/conv_trunk.hpp"
#include "actors/networks/device_link.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"

namespace troupe::detail {

/// The network of an off-policy policy: a perceptron, and where observations are images
/// convolutions before its one layer. Without state: its parameters, a flat block of
/// `parameter_count()` floats, are given to each call; the convolutions' follow the perceptron's.
class network_stack {
 public:
  /// Throws std::invalid_argument as conv_trunk and device_link; and for convolutions, or another
  /// device than the CPU, where actions are continuous: the algorithms that have such actions know
  /// neither.
  network_stack(const network_shape& shape, const network_options& options, int outputs,
                activation output_activation = activation::linear);

  std::size_t parameter_count() const;
  int inputs() const { return trunk_ ? trunk_->inputs() : top_.inputs(); }
  int outputs() const { return top_.outputs(); }
  bool has_convolutions() const { return trunk_.has_value(); }
  bool is_on_host() const { return link_.is_host(); }
  /// What follows the convolutions; all there is where there are none.
  const mlp& top() const { return top_; }

  /// The convolutions' weights by the same rule as the perceptron's.
  void initialise(action_random& random, bool orthogonal, double output_gain,
                  float* parameters) const;

  /// Outputs [N, outputs] of x [N, inputs] by libtorch's operators, with autograd; parameters [P]
  /// and x are the host's, both float or both double, and so are the outputs, wherever it works.
  at::Tensor forward(const at::Tensor& parameters, const at::Tensor& x) const;
  /// The same without autograd, from and to plain memory.
  void infer(const float* parameters, const float* x, int rows, mlp_buffers& buffers,
             float* y) const;

 private:
  device_link link_;
  std::optional<conv_trunk> trunk_;
  mlp top_;
};

}  // namespace troupe::detail
