#include "actors/kernels/activation.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace troupe {

const char* to_string(activation kind) {
  switch (kind) {
    case activation::tanh:
      return "tanh";
    case activation::relu:
      return "relu";
    case activation::elu:
      return "elu";
    case activation::leaky_relu:
      return "leaky_relu";
    case activation::silu:
      return "silu";
    case activation::linear:
      return "linear";
  }
  return "unknown";
}

activation activation_named(std::string_view name) {
  for (auto kind : {activation::tanh, activation::relu, activation::elu, activation::leaky_relu,
                    activation::silu, activation::linear}) {
    if (name == to_string(kind)) return kind;
  }
  throw std::invalid_argument(
      fmt::format("activation {}: expected tanh, relu, elu, leaky_relu, silu or linear", name));
}

}  // namespace troupe
