// The plug-in of docs/guides/network.md.

// readme: gate
#include "actors/gradients/own_network.hpp"
#include "actors/worlds/plugin.hpp"

troupe::variable gated(troupe::network_parameters& p, const troupe::variable& x) {
  const auto value = p.dense("value", x, 32, troupe::activation::tanh);
  const auto gate = sigmoid(p.dense("gate", x, 32));
  return value * gate;
}

TROUPE_PLUGIN(troupe::plugin_encoder{"gated", gated})
// readme: end
