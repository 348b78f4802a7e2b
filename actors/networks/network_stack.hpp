#pragma once
// The network of the off-policy algorithms: an optional extractor of features and a perceptron.

#include <cstddef>
#include <optional>

#include <ATen/core/Tensor.h>

#include "actors/networks/device_link.hpp"
#include "actors/networks/feature_extractor.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"

namespace troupe::detail {

/// The work memory of network_stack::infer. Each thread needs its own.
struct stack_buffers {
  mlp_buffers top;
  extractor_buffers extractor;
};

/// The network of an off-policy policy: a perceptron; if observations are images, convolutions
/// followed by one linear layer; or, if they are a Dict or Tuple with images or go through a user's
/// encoder, a feature_extractor followed by a perceptron. It has no state: each call gets the
/// parameters as a flat block of `parameter_count()` floats. The extractor's parameters follow the
/// perceptron's. Of a shape with an action mask it sees the floats before the mask,
/// network_shape::actor_inputs().
class network_stack {
 public:
  /// Throws std::invalid_argument as make_extractor and device_link do. Also throws it for use_sde
  /// with images.
  network_stack(const network_shape& shape, const network_options& options, int outputs,
                activation output_activation = activation::linear);

  std::size_t parameter_count() const;
  int inputs() const { return extractor_ ? extractor_->inputs() : top_.inputs(); }
  int outputs() const { return top_.outputs(); }
  bool has_convolutions() const { return extractor_ && extractor_->has_convolutions(); }
  /// Returns feature_extractor::obstacle(); empty without an extractor.
  std::string obstacle() const { return extractor_ ? extractor_->obstacle() : ""; }
  bool is_on_host() const { return link_.is_host(); }
  /// The way to the device that computes the network.
  const device_link& link() const { return link_; }
  /// Returns the perceptron: the part after the extractor, or the whole network if there is none.
  const mlp& top() const { return top_; }
  const std::optional<feature_extractor>& extractor() const { return extractor_; }

  /// Initialises all weights; those of the extractor follow the same rule as the perceptron.
  void initialise(action_random& random, bool orthogonal, double output_gain,
                  float* parameters) const;

  /// Returns the outputs [N, outputs] of x [N, inputs] by libtorch's operators, with autograd. The
  /// parameters [P], x and the outputs are on the host, all float or all double, whichever device
  /// computes them.
  at::Tensor forward(const at::Tensor& parameters, const at::Tensor& x) const;
  /// Returns what the perceptron sees of x [rows, inputs]: x, or the features [rows, F], which are
  /// valid until the next call. Not for convolutions.
  const float* features_of(const float* parameters, const float* x, int rows,
                           stack_buffers& buffers) const;
  /// Computes the outputs without autograd, from and to plain memory.
  /// `there` is what device_copy has returned for the same parameters, which saves copying them.
  void infer(const float* parameters, const float* x, int rows, stack_buffers& buffers, float* y,
             const at::Tensor& there = {}) const;
  /// Returns a copy of parameters [P] on the device, or an undefined tensor where that is the CPU.
  at::Tensor device_copy(const float* parameters) const;

 private:
  std::optional<feature_extractor> extractor_;
  mlp top_;
  device_link link_;
};

}  // namespace troupe::detail
