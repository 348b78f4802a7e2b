// A network of your own behind troupe's commands: a gated layer, whose gate says how much of each
// number passes (Dauphin et al. 2017, https://arxiv.org/abs/1612.08083, equation 1).
//
// Every algorithm takes it: the hidden layers of actor and critic stand on its features. The roles
// are the algorithm's.
//
//   ./own_network train -n 50000 policy.encoder=gated
//   ./own_network train --algo dqn -n 20000 policy.encoder=gated policy.layer_norm=true
//   ./own_network eval runs/ppo/CartPole-v1_1
//
// Its parameters are in checkpoints and model files, as encoder.value.weight and so on.

// readme: own_network
#include "actors/gradients/own_network.hpp"
#include "algorithms/program/main.hpp"

troupe::variable gated(troupe::network_parameters& p, const troupe::variable& x) {
  const auto value = p.layer_norm("norm", p.dense("value", x, 64), troupe::activation::tanh);
  const auto gate = sigmoid(p.dense("gate", x, 64));
  const auto scale = p.parameter("scale", 1, 64, troupe::initial_values::ones);
  return value * gate * scale;
}

int main(int argc, char** argv) {
  return troupe::main(
      argc, argv, {.help = "Trains agents with a gated network.", .encoders = {{"gated", gated}}});
}
// readme: end
