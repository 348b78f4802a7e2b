#include "actors/gradients/graph.hpp"

namespace troupe {
namespace {

variable element(element_operation operation, variable x, float a = 0, float b = 0) {
  return x.owner().element(operation, x, a, b);
}

variable pair(pair_operation operation, variable x, variable y) {
  return x.owner().pair(operation, x, y);
}

}  // namespace

variable operator+(variable x, variable y) { return pair(pair_operation::add, x, y); }
variable operator-(variable x, variable y) { return pair(pair_operation::subtract, x, y); }
variable operator*(variable x, variable y) { return pair(pair_operation::multiply, x, y); }
variable operator+(variable x, float y) { return element(element_operation::shift, x, y); }
variable operator-(variable x, float y) { return element(element_operation::shift, x, -y); }
variable operator*(float x, variable y) { return element(element_operation::scale, y, x); }
variable operator-(variable x) { return -1.0f * x; }
variable operator-(float x, variable y) { return -y + x; }

variable exp(variable x) { return element(element_operation::exp, x); }
variable unbounded_exp(variable x) { return element(element_operation::unbounded_exp, x); }
variable natural_log(variable x) { return element(element_operation::log, x); }
variable square(variable x) { return element(element_operation::square, x); }
variable abs(variable x) { return element(element_operation::abs, x); }
variable tanh(variable x) { return element(element_operation::tanh, x); }
variable sigmoid(variable x) { return 0.5f * (tanh(0.5f * x) + 1.0f); }
variable elu(variable x) { return element(element_operation::elu, x); }
variable log_slope_of_tanh(variable x) { return element(element_operation::log_slope_of_tanh, x); }
variable huber(variable x) { return element(element_operation::huber, x); }
variable clamp(variable x, float low, float high) {
  return element(element_operation::clamp, x, low, high);
}

variable minimum(variable x, variable y) { return pair(pair_operation::minimum, x, y); }
variable maximum(variable x, variable y) { return pair(pair_operation::maximum, x, y); }
variable masked(variable x, variable allowed) { return pair(pair_operation::mask, x, allowed); }
variable product(variable x, variable y) { return x.owner().product(x, y); }
variable row_dense(variable x, variable weight, variable bias) {
  return x.owner().row_dense(x, weight, bias);
}

variable row_sum(variable x) { return x.owner().reduce_rows(row_operation::sum, x); }
variable row_mean(variable x) { return x.owner().reduce_rows(row_operation::mean, x); }
variable row_min(variable x) { return x.owner().reduce_rows(row_operation::min, x); }
variable row_max(variable x) { return x.owner().reduce_rows(row_operation::max, x); }
variable log_softmax(variable x) { return x.owner().log_softmax(x); }
variable layer_norm(variable x, variable scale, variable shift, activation kind) {
  return x.owner().layer_norm(x, scale, shift, kind);
}

variable slice(variable x, int first, int count) { return x.owner().slice(x, first, count); }
variable reshape(variable x, int columns) { return x.owner().reshape(x, columns); }
variable concat(std::initializer_list<variable> parts) {
  return concat(std::span(parts.begin(), parts.size()));
}
variable concat(std::span<const variable> parts) { return parts.front().owner().concat(parts); }
variable gather(variable x, std::span<const std::int64_t> chosen) {
  return x.owner().gather(x, chosen);
}
variable select_rows(variable x, std::span<const std::int64_t> chosen) {
  return x.owner().select_rows(x, chosen);
}
std::span<const std::int64_t> argmax(variable x, std::span<const float> allowed) {
  return x.owner().argmax(x, allowed);
}
variable stop_gradient(variable x) { return x.owner().stop_gradient(x); }
variable mean(variable x, std::span<const float> weight) { return x.owner().mean(x, weight); }
variable sum(variable x, std::span<const float> weight) { return x.owner().sum(x, weight); }

std::span<const float> values(variable x) { return x.owner().values(x); }
double number(variable x) { return x.owner().number(x); }

}  // namespace troupe
