#include "actors/networks/mlp.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "actors/kernels/activation_kernels.hpp"
#include "actors/kernels/dense_kernels.hpp"
#include "actors/networks/orthogonal.hpp"

namespace troupe::detail {

mlp::mlp(int inputs, const std::vector<int>& hidden, int outputs, activation hidden_activation,
         activation output_activation)
    : hidden_activation_(hidden_activation), output_activation_(output_activation) {
  auto widths = hidden;
  widths.push_back(outputs);
  int in = inputs;
  for (int out : widths) {
    const std::size_t weights = static_cast<std::size_t>(in) * out;
    layers_.push_back({in, out, parameter_count_, parameter_count_ + weights});
    parameter_count_ += weights + out;
    in = out;
  }
}

void mlp::initialise_orthogonal(action_random& random, double output_gain,
                                float* parameters) const {
  for (const auto& layer : layers_) {
    const double gain = &layer == &layers_.back() ? output_gain : std::numbers::sqrt2;
    const bool wide = layer.in >= layer.out;
    const auto rows = wide ? orthonormal_rows(random, layer.out, layer.in)
                           : orthonormal_rows(random, layer.in, layer.out);
    float* weight = parameters + layer.weight;
    for (int i = 0; i < layer.in; ++i) {
      for (int o = 0; o < layer.out; ++o) {
        const std::size_t from =
            wide ? std::size_t(o) * layer.in + i : std::size_t(i) * layer.out + o;
        weight[std::size_t(i) * layer.out + o] = static_cast<float>(gain * rows[from]);
      }
    }
    std::fill_n(parameters + layer.bias, layer.out, 0.0f);
  }
}

void mlp::initialise_uniform(action_random& random, float* parameters) const {
  for (const auto& layer : layers_) {
    const double bound = 1.0 / std::sqrt(layer.in);
    const std::size_t count = (static_cast<std::size_t>(layer.in) + 1) * layer.out;
    for (std::size_t i = 0; i < count; ++i) {
      parameters[layer.weight + i] = static_cast<float>(bound * (2.0 * random.uniform() - 1.0));
    }
  }
}

bool mlp::has_backward() const {
  return has_slope_of_result(hidden_activation_) && has_slope_of_result(output_activation_);
}

activation mlp::activation_of(std::size_t layer) const {
  return layer + 1 < layers_.size() ? hidden_activation_ : output_activation_;
}

const float* mlp::forward(const float* parameters, const float* x, int rows,
                          mlp_buffers& buffers) const {
  buffers.outputs.resize(layers_.size());
  const float* input = x;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto& layer = layers_[i];
    const std::size_t count = static_cast<std::size_t>(rows) * layer.out;
    float* output = grown(buffers.outputs[i], count);
    multiply(input, parameters + layer.weight, parameters + layer.bias, activation_of(i),
             {.rows = rows, .in = layer.in, .out = layer.out}, output);
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

}  // namespace troupe::detail
