#pragma once
// The convolutions of a network that sees images.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"

namespace troupe::detail {

/// The convolutions of cnn_options, computed by libtorch's operators: they map images to features.
/// The class has no state; each call gets the parameters as a flat block. The block has the weight
/// [out, in, kernel, kernel] and the bias [out] of each convolution, then the weight [in, out] and
/// the bias [out] of the fully connected layer.
class conv_trunk {
 public:
  /// Takes an image [channels, height, width] whose numbers lie as network_shape::interleaved says,
  /// and are divided by `high`.
  /// Throws std::invalid_argument if the options' lists differ in length or hold a number < 1, and
  /// if the image is too small for the convolutions.
  conv_trunk(const std::vector<int>& image, const cnn_options& options, int interleaved = 0,
             float high = 255);

  std::int64_t parameter_count() const { return parameter_count_; }
  int inputs() const { return channels_ * height_ * width_; }  ///< D
  int features() const { return dense_.outputs(); }            ///< F

  /// Initialises the weights like mlp: orthogonal with gain sqrt(2) and zero biases, or PyTorch's
  /// rule.
  void initialise(action_random& random, bool orthogonal, float* parameters) const;

  /// Returns views of a flat block [parameter_count()]: the weight and the bias of each layer in
  /// turn.
  std::vector<at::Tensor> parts(const at::Tensor& block) const;
  /// Returns the number of convolutions, which is that of the layers without the fully connected
  /// one.
  std::size_t convolutions() const { return layers_.size(); }

  /// Returns the features [N, F] of obs float [N, D], which are divided by `high`.
  at::Tensor forward(const std::vector<at::Tensor>& parts, const at::Tensor& obs) const;

 private:
  struct layer {
    int in, out, kernel, stride;
    std::int64_t weights() const { return std::int64_t{in} * out * kernel * kernel; }
  };

  /// Returns the images [N, channels, height, width] of obs [N, D].
  at::Tensor images(const at::Tensor& obs) const;

  int channels_, height_, width_;
  int interleaved_;
  double scale_;  // 1 / high
  std::vector<layer> layers_;
  mlp dense_;
  std::int64_t parameter_count_ = 0;
};

}  // namespace troupe::detail
