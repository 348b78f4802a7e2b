#include "actors/torch/torch.hpp"

#include "actors/networks/conv_trunk.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include <fmt/format.h>

#include "actors/networks/orthogonal.hpp"

namespace troupe::detail {
namespace {

const cnn_options& checked(const cnn_options& options) {
  const auto positive = [](int size) { return size > 0; };
  const auto count = options.channels.size();
  if (count == 0 || options.kernels.size() != count || options.strides.size() != count ||
      !std::ranges::all_of(options.channels, positive) ||
      !std::ranges::all_of(options.kernels, positive) ||
      !std::ranges::all_of(options.strides, positive) || options.features < 1) {
    throw std::invalid_argument(fmt::format(
        "policy.cnn: expected as many channels, kernels and strides, all > 0, got {}, {} and {}",
        count, options.kernels.size(), options.strides.size()));
  }
  return options;
}

// Returns the number of outputs of the last convolution.
int flat_size(const std::vector<int>& image, const cnn_options& options) {
  int height = image[1], width = image[2];
  for (std::size_t i = 0; i < checked(options).channels.size(); ++i) {
    const int kernel = options.kernels[i];
    if (height < kernel || width < kernel) {
      throw std::invalid_argument(fmt::format(
          "policy.cnn: an image of {}x{} with {} channel{} is too small: convolution {} of kernel "
          "{} is left with {}x{}; expected at least 36x36 with the default layers, or smaller "
          "policy.cnn.kernels and policy.cnn.strides, or policy.kind=mlp, which takes observations "
          "of any size",
          image[1], image[2], image[0], image[0] == 1 ? "" : "s", i, kernel, height, width));
    }
    height = (height - kernel) / options.strides[i] + 1;
    width = (width - kernel) / options.strides[i] + 1;
  }
  return options.channels.back() * height * width;
}

}  // namespace

conv_trunk::conv_trunk(const std::vector<int>& image, const cnn_options& options, int interleaved,
                       float high)
    : channels_(image[0]),
      height_(image[1]),
      width_(image[2]),
      interleaved_(interleaved),
      scale_(1.0 / high),
      dense_(flat_size(image, options), {}, options.features, activation::relu, activation::relu) {
  int in = channels_;
  for (std::size_t i = 0; i < options.channels.size(); ++i) {
    layers_.push_back({in, options.channels[i], options.kernels[i], options.strides[i]});
    parameter_count_ += layers_.back().weights() + layers_.back().out;
    in = options.channels[i];
  }
  parameter_count_ += static_cast<std::int64_t>(dense_.parameter_count());
}

void conv_trunk::initialise(action_random& random, bool orthogonal, float* parameters) const {
  for (const auto& layer : layers_) {
    const int fan_in = layer.in * layer.kernel * layer.kernel;
    if (orthogonal) {
      // The weights form a matrix [out, fan_in]. Its rows are orthonormal, or its columns if there
      // are more rows than columns.
      const bool wide = fan_in >= layer.out;
      const auto rows = wide ? orthonormal_rows(random, layer.out, fan_in)
                             : orthonormal_rows(random, fan_in, layer.out);
      for (int o = 0; o < layer.out; ++o) {
        for (int i = 0; i < fan_in; ++i) {
          const auto at = wide ? std::size_t(o) * fan_in + i : std::size_t(i) * layer.out + o;
          *parameters++ = static_cast<float>(std::numbers::sqrt2 * rows[at]);
        }
      }
      parameters = std::fill_n(parameters, layer.out, 0.0f);
    } else {
      const double bound = 1.0 / std::sqrt(fan_in);
      const auto count = layer.weights() + layer.out;
      for (std::int64_t i = 0; i < count; ++i) {
        *parameters++ = static_cast<float>(bound * (2.0 * random.uniform() - 1.0));
      }
    }
  }
  if (orthogonal) {
    dense_.initialise_orthogonal(random, std::numbers::sqrt2, parameters);
  } else {
    dense_.initialise_uniform(random, parameters);
  }
}

std::vector<at::Tensor> conv_trunk::parts(const at::Tensor& block) const {
  std::vector<std::int64_t> sizes;
  for (const auto& layer : layers_) sizes.insert(sizes.end(), {layer.weights(), layer.out});
  const std::int64_t in = dense_.inputs(), out = dense_.outputs();
  sizes.insert(sizes.end(), {in * out, out});
  auto parts = block.split_with_sizes(sizes);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto& layer = layers_[i];
    parts[2 * i] = parts[2 * i].view({layer.out, layer.in, layer.kernel, layer.kernel});
  }
  parts[2 * layers_.size()] = parts[2 * layers_.size()].view({in, out});
  return parts;
}

at::Tensor conv_trunk::images(const at::Tensor& obs) const {
  const auto rows = obs.size(0);
  if (interleaved_ == 0) return obs.reshape({rows, channels_, height_, width_});
  const auto frames = channels_ / interleaved_;  // such as the frames of a stack
  return obs.reshape({rows, frames, height_, width_, interleaved_})
      .permute({0, 1, 4, 2, 3})
      .reshape({rows, channels_, height_, width_});
}

at::Tensor conv_trunk::forward(const std::vector<at::Tensor>& parts, const at::Tensor& obs) const {
  TORCH_CHECK(obs.dim() == 2 && obs.size(1) == inputs(), "convolutions: obs must be [N, ", inputs(),
              "], got ", obs.sizes());
  // oneDNN convolves faster, backwards above all, where the channels of a pixel lie together.
  constexpr auto layout = at::MemoryFormat::ChannelsLast;
  auto x = images(obs * scale_).contiguous(layout);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto weights = parts[2 * i].contiguous(layout);
    x = at::relu(at::conv2d(x, weights, parts[2 * i + 1], layers_[i].stride));
  }
  return at::relu(at::addmm(parts.back(), x.flatten(1), parts[parts.size() - 2]));
}

}  // namespace troupe::detail
