// A plug-in with an environment and two networks.

#include "actors/gradients/own_network.hpp"
#include "tests/actors/worlds/plugins/counter.hpp"

namespace {

troupe::variable gate(troupe::network_parameters& p, const troupe::variable& x) {
  const auto value = p.dense("value", x, 3, troupe::activation::tanh);
  return value * sigmoid(p.dense("gate", x, 3));
}

troupe::variable bare(troupe::network_parameters&, const troupe::variable& x) { return x; }

}  // namespace

TROUPE_PLUGIN(troupe::plugin_environment<counter>("Counter-v0", {.deterministic = true}),
              troupe::plugin_encoder{"gate", gate}, troupe::plugin_encoder{"bare", bare})
