#include "algorithms/multi_agent/off_policy/qmix/config.hpp"

#include <stdexcept>

namespace troupe {

qmix_config::qmix_config() { algo = "qmix"; }

network_shape qmix_config::shape_for(const env_spec& spec) const {
  auto shape = joint_q_config::shape_for(spec);
  if (mixer.input == mixer_input::state && !spec.state_space) {
    throw std::invalid_argument(
        algo + ": expected an environment with a global state for the mixer, got " + spec.id +
        ", which has none; with mixer.input=observations it sees what all agents see");
  }
  return shape;
}

void describe(enum_schema<mixer_input>& s) {
  s.name("state", mixer_input::state)
      .name("observations", mixer_input::observations)
      .name("none", mixer_input::none);
}

void describe(options_schema<mixer_section>& s) {
  s.field("input", &mixer_section::input)
      .help(
          "What the mixing weights depend on: state is the environment's global state, "
          "observations "
          "are those of all agents, none is nothing, so that the weights are the same everywhere.");
  s.field("embed_dim", &mixer_section::embed_dim)
      .also_known_as({"mixing_embed_dim"})
      .at_least(1)
      .at_most(4096)
      .help("The width of the mixing network's hidden layer.");
  s.field("hyper_hidden", &mixer_section::hyper_hidden)
      .also_known_as({"hypernet_embed"})
      .items(0, 4)
      .at_least(1)
      .at_most(16384)
      .example("[]")
      .help(
          "The widths of the hidden layers of the networks that make the mixing weights. An empty "
          "list means one linear layer, as in Rashid et al. 2018.");
}

void describe(options_schema<qmix_config>& s) {
  describe_joint_q(s);
  describe_team(s);
  s.field("mixer", &qmix_config::mixer).help("The options of the mixing network.");
}

}  // namespace troupe
