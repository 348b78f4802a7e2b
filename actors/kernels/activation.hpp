#pragma once
#include <string_view>

namespace troupe {

/// elu with alpha 1, leaky_relu with slope 0.01, as PyTorch's. A network's last layer is linear.
enum class activation { tanh, relu, elu, leaky_relu, silu, linear };

const char* to_string(activation kind);
/// Throws std::invalid_argument for a name that is none.
activation activation_named(std::string_view name);

}  // namespace troupe
