#include "actors/gradients/element.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "actors/kernels/activation_kernels.hpp"
#include "actors/kernels/dense_kernels.hpp"

namespace troupe::detail {
namespace {

TROUPE_CPU_CLONES void exp_all(std::ptrdiff_t count, const float* __restrict x,
                               float* __restrict y) {
  for (std::ptrdiff_t i = 0; i < count; ++i) y[i] = exp_of(x[i]);
}

TROUPE_CPU_CLONES void tanh_all(std::ptrdiff_t count, const float* __restrict x,
                                float* __restrict y) {
  for (std::ptrdiff_t i = 0; i < count; ++i) y[i] = tanh_of(x[i]);
}

TROUPE_CPU_CLONES void log_slope_all(std::ptrdiff_t count, const float* __restrict x,
                                     float* __restrict y) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const float size = x[i] < 0.0f ? -x[i] : x[i];
    y[i] = 2.0f * (std::numbers::ln2_v<float> - size - log_one_plus(exp_of(-2.0f * size)));
  }
}

float huber_of(float x) {
  const float size = std::abs(x);
  return size < 1.0f ? 0.5f * x * x : size - 0.5f;
}

// NaN stays NaN in both.
float clipped(float x, float low, float high) { return x > high ? high : x < low ? low : x; }

float sign_of(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x; }

template <class F>
void map(std::ptrdiff_t count, const float* __restrict x, float* __restrict y, const F& f) {
  for (std::ptrdiff_t i = 0; i < count; ++i) y[i] = f(x[i]);
}

}  // namespace

void element_node::forward(element_operation operation, graph_node& x, float a, float b) {
  operation_ = operation;
  x_ = &x;
  a_ = a;
  b_ = b;
  float* y = resize(x.rows, x.columns);
  want(x.is_trained());
  const auto count = static_cast<std::ptrdiff_t>(size());
  switch (operation) {
    case element_operation::scale:
      map(count, x.value, y, [a](float v) { return a * v; });
      number = a * x.number;
      break;
    case element_operation::shift:
      map(count, x.value, y, [a](float v) { return v + a; });
      number = x.number + a;
      break;
    case element_operation::exp:
      exp_all(count, x.value, y);
      break;
    case element_operation::unbounded_exp:
      map(count, x.value, y, [](float v) { return std::exp(v); });
      break;
    case element_operation::log:
      map(count, x.value, y, [](float v) { return std::log(v); });
      break;
    case element_operation::square:
      map(count, x.value, y, [](float v) { return v * v; });
      break;
    case element_operation::abs:
      map(count, x.value, y, [](float v) { return std::abs(v); });
      break;
    case element_operation::clamp:
      map(count, x.value, y, [a, b](float v) { return clipped(v, a, b); });
      break;
    case element_operation::tanh:
      tanh_all(count, x.value, y);
      break;
    case element_operation::elu:
      std::copy_n(x.value, size(), y);
      activate(activation::elu, count, y);
      break;
    case element_operation::log_slope_of_tanh:
      log_slope_all(count, x.value, y);
      break;
    case element_operation::huber:
      map(count, x.value, y, huber_of);
      break;
  }
}

void element_node::backward() {
  const float* d = derivative.data();
  const float* x = x_->value;
  const float* y = value;
  const float a = a_, b = b_;
  switch (operation_) {
    case element_operation::scale:
      return add_derivative(*x_, [=](auto i) { return a * d[i]; });
    case element_operation::shift:
      return add_derivative(*x_, [=](auto i) { return d[i]; });
    case element_operation::exp:
    case element_operation::unbounded_exp:
      return add_derivative(*x_, [=](auto i) { return d[i] * y[i]; });
    case element_operation::log:
      return add_derivative(*x_, [=](auto i) { return d[i] / x[i]; });
    case element_operation::square:
      return add_derivative(*x_, [=](auto i) { return d[i] * (2.0f * x[i]); });
    case element_operation::abs:
      return add_derivative(*x_, [=](auto i) { return d[i] * sign_of(x[i]); });
    case element_operation::clamp:
      return add_derivative(*x_, [=](auto i) { return x[i] >= a && x[i] <= b ? d[i] : 0.0f; });
    case element_operation::tanh:
      return add_derivative(*x_, [=](auto i) { return d[i] * (1.0f - y[i] * y[i]); });
    case element_operation::elu:
      return add_derivative(*x_, [=](auto i) { return d[i] * slope_at<activation::elu>(y[i]); });
    case element_operation::log_slope_of_tanh:
      return add_derivative(*x_, [=](auto i) { return d[i] * (-2.0f * tanh_of(x[i])); });
    case element_operation::huber:
      return add_derivative(*x_, [=](auto i) { return d[i] * clipped(x[i], -1.0f, 1.0f); });
  }
}

}  // namespace troupe::detail
