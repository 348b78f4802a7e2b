#include "actors/networks/mlp.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "actors/kernels/activation_kernels.hpp"
#include "actors/kernels/dense_kernels.hpp"
#include "actors/kernels/norm_kernels.hpp"
#include "actors/networks/orthogonal.hpp"

namespace troupe::detail {

mlp::mlp(int inputs, const std::vector<int>& hidden, int outputs, activation hidden_activation,
         activation output_activation, normalised_layers normalised)
    : hidden_activation_(hidden_activation), output_activation_(output_activation) {
  auto widths = hidden;
  widths.push_back(outputs);
  int in = inputs;
  for (int out : widths) {
    const std::size_t weights = static_cast<std::size_t>(in) * out;
    auto& layer = layers_.emplace_back();
    layer = {.in = in, .out = out, .weight = parameter_count_, .bias = parameter_count_ + weights};
    parameter_count_ += weights + out;
    const bool is_hidden = layers_.size() < widths.size();
    if (normalised == normalised_layers::all ||
        (normalised == normalised_layers::hidden && is_hidden)) {
      layer.scale = parameter_count_;
      layer.shift = parameter_count_ + out;
      parameter_count_ += 2 * static_cast<std::size_t>(out);
    }
    in = out;
  }
}

void mlp::initialise_orthogonal(action_random& random, double output_gain,
                                float* parameters) const {
  for (const auto& layer : layers_) {
    const double gain = &layer == &layers_.back() ? output_gain : std::numbers::sqrt2;
    write_orthogonal(random, layer.in, layer.out, gain, parameters + layer.weight);
    std::fill_n(parameters + layer.bias, layer.out, 0.0f);
  }
  initialise_norms(parameters);
}

void mlp::initialise_uniform(action_random& random, float* parameters) const {
  for (const auto& layer : layers_) {
    const double bound = 1.0 / std::sqrt(layer.in);
    const std::size_t count = (static_cast<std::size_t>(layer.in) + 1) * layer.out;
    for (std::size_t i = 0; i < count; ++i) {
      parameters[layer.weight + i] = static_cast<float>(bound * (2.0 * random.uniform() - 1.0));
    }
  }
  initialise_norms(parameters);
}

void mlp::initialise_norms(float* parameters) const {
  for (const auto& layer : layers_) {
    if (!layer.is_normalised()) continue;
    std::fill_n(parameters + layer.scale, layer.out, 1.0f);
    std::fill_n(parameters + layer.shift, layer.out, 0.0f);
  }
}

bool mlp::has_backward() const {
  return has_slope_of_result(hidden_activation_) && has_slope_of_result(output_activation_);
}

activation mlp::activation_of(std::size_t layer) const {
  return layer + 1 < layers_.size() ? hidden_activation_ : output_activation_;
}

namespace {

/// A layer with a layer norm. It is apart, so that layers without one are as fast as they can be.
[[gnu::noinline]] void multiply_normalised(const dense_layer& layer, activation kind,
                                           const float* parameters, const float* x, int rows,
                                           float* y) {
  multiply(x, parameters + layer.weight, parameters + layer.bias, activation::linear,
           {.rows = rows, .in = layer.in, .out = layer.out}, y);
  normalise_rows(y, rows, layer.out, y);
  scale_rows(y, parameters + layer.scale, parameters + layer.shift, kind, rows, layer.out, y);
}

}  // namespace

const float* mlp::forward(const float* parameters, const float* x, int rows,
                          mlp_buffers& buffers) const {
  buffers.outputs.resize(layers_.size());
  const float* input = x;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto& layer = layers_[i];
    const std::size_t count = static_cast<std::size_t>(rows) * layer.out;
    float* output = grown(buffers.outputs[i], count);
    if (layer.is_normalised()) {
      multiply_normalised(layer, activation_of(i), parameters, input, rows, output);
    } else {
      multiply(input, parameters + layer.weight, parameters + layer.bias, activation_of(i),
               {.rows = rows, .in = layer.in, .out = layer.out}, output);
    }
    input = output;
  }
  return input;
}

void mlp::infer(const float* parameters, const float* x, int rows, mlp_buffers& buffers,
                float* y) const {
  constexpr int block = 96;
  const std::size_t in = layers_.front().in;
  const std::size_t out = layers_.back().out;
  for (int row = 0; row < rows; row += block) {
    const int count = std::min(block, rows - row);
    const float* output = forward(parameters, x + row * in, count, buffers);
    std::copy_n(output, count * out, y + row * out);
  }
}

mlp make_mlp(const network_options& options, int inputs, const std::vector<int>& hidden,
             int outputs, activation output_activation) {
  return {inputs,
          hidden,
          outputs,
          options.hidden_activation,
          output_activation,
          options.layer_norm ? normalised_layers::hidden : normalised_layers::none};
}

mlp make_shared_layers(const network_options& options, int inputs) {
  auto hidden = options.shared_hidden;
  const int last = hidden.back();
  hidden.pop_back();
  return {inputs,
          hidden,
          last,
          options.hidden_activation,
          options.hidden_activation,
          options.layer_norm ? normalised_layers::all : normalised_layers::none};
}

}  // namespace troupe::detail
