#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"

namespace troupe::detail {

/// The convolutions of cnn_options, through libtorch's operators: from images to features.
/// Without state: its parameters, a flat block, are given to each call. They are the weight [out,
/// in, kernel, kernel] and the bias [out] of each convolution, then those of the fully connected
/// layer, [in, out] and [out].
class conv_trunk {
 public:
  /// Throws std::invalid_argument if the options' lists are not of one length, or hold a number
  /// < 1, and if the image [channels, height, width] is too small for them.
  conv_trunk(const std::vector<int>& image, const cnn_options& options);

  std::int64_t parameter_count() const { return parameter_count_; }
  int inputs() const { return channels_ * height_ * width_; }  ///< D
  int features() const { return dense_.outputs(); }            ///< F

  /// Weights as mlp's: orthogonal with gain sqrt(2) and zero biases, or PyTorch's.
  void initialise(action_random& random, bool orthogonal, float* parameters) const;

  /// A flat block [parameter_count()] as its parts, weight and bias in turn: views of it.
  std::vector<at::Tensor> parts(const at::Tensor& block) const;
  /// Names of the parts, "0.weight", "0.bias", ...
  std::vector<std::string> part_names() const;

  /// Features [N, F] of obs float [N, D], bytes 0 .. 255, which are scaled to 0 .. 1.
  at::Tensor forward(const std::vector<at::Tensor>& parts, const at::Tensor& obs) const;

 private:
  struct layer {
    int in, out, kernel, stride;
    std::int64_t weights() const { return std::int64_t{in} * out * kernel * kernel; }
  };

  int channels_, height_, width_;
  std::vector<layer> layers_;
  mlp dense_;
  std::int64_t parameter_count_ = 0;
};

}  // namespace troupe::detail
