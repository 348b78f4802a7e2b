#pragma once
// A network of one's own, for policy.encoder:
//
//     troupe::variable gated(troupe::network_parameters& p, const troupe::variable& x) {
//       const auto value = p.dense("value", x, 64, troupe::activation::tanh);
//       return value * sigmoid(p.dense("gate", x, 64));
//     }
//
//     troupe::register_encoder("gated", gated);  // troupe train ... policy.encoder=gated

// encoder.hpp says what such a function must keep to.

#include "actors/gradients/graph.hpp"
#include "actors/networks/encoder.hpp"
