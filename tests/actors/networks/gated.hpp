#pragma once
// A small encoder for tests, with each kind of parameter.

#include "actors/gradients/own_network.hpp"

namespace troupe {

inline variable gated(network_parameters& p, const variable& x) {
  const auto value = p.layer_norm("norm", p.dense("value", x, 7), activation::tanh);
  const auto gate = sigmoid(p.dense("gate", x, 7));
  return product(value * gate, p.parameter("mix", 7, 6));
}

/// Registers it as "gated", once in a program.
inline void register_gated() {
  [[maybe_unused]] static const bool registered = [] {
    register_encoder("gated", gated);
    return true;
  }();
}

}  // namespace troupe
