#pragma once
// A network of one's own, for policy.encoder:
//
//     troupe::variable gated(troupe::network_parameters& p, const troupe::variable& x) {
//       const auto value = p.dense("value", x, 64, troupe::activation::tanh);
//       return value * sigmoid(p.dense("gate", x, 64));
//     }
//
//     troupe::register_encoder("gated", gated);  // troupe train ... policy.encoder=gated

// encoder.hpp says what such a function must keep to. make_encoder tries it once for a name and a
// number of inputs: the features of two random rows together must be those of each row alone, to
// 1e-5 of the largest, on both engines. It throws std::invalid_argument otherwise, and so does
// every later call in which the function throws or returns anything but features [rows, F]; the
// message names the encoder.

#include "actors/gradients/graph.hpp"
#include "actors/networks/encoder.hpp"
