#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/off_policy/qmix/mixing_network.hpp"

#include <stdexcept>

#include "actors/gradients/perceptron.hpp"

namespace troupe {
namespace {

enum { w1, b1, w2, v };

}  // namespace

agent_layout::range input_of_mixer(const network_shape& shape, mixer_input input) {
  if (shape.agents.empty()) {
    throw std::invalid_argument("mixer (" + to_string(shape) + "): expected several agents");
  }
  if (input == mixer_input::none) return {};
  // The row is [observations of all agents, state, who acts, action masks] (agent_layout).
  std::size_t observations = 0;
  for (const auto& agent : shape.agents) observations += static_cast<std::size_t>(agent.obs_size);
  if (input == mixer_input::observations) return {0, observations};
  const auto& first = shape.agents.front();
  const bool masked = shape.policies[static_cast<std::size_t>(first.policy)].mask_size > 0;
  const int end = first.active >= 0 ? first.active : masked ? first.mask_begin : shape.obs_size;
  return {observations, static_cast<std::size_t>(end) - observations};
}

mixing_network::mixing_network(const network_shape& shape, const mixer_section& options)
    : sees_nothing_(options.input == mixer_input::none),
      input_(input_of_mixer(shape, options.input)) {
  if (sees_nothing_) input_.size = 1;
  if (input_.size == 0) {
    throw std::invalid_argument("mixer (" + to_string(shape) +
                                "): expected an environment that shows its input, got none");
  }
  const auto add = [&](const char* name, const std::vector<int>& hidden, int outputs) {
    const auto first =
        hypers_.empty() ? 0 : hypers_.back().first + hypers_.back().net.parameter_count();
    hypers_.push_back(
        {name, {static_cast<int>(input_.size), hidden, outputs, activation::relu}, first});
  };
  const int agents = static_cast<int>(shape.agents.size()), embed = options.embed_dim;
  add("mixer.w1", options.hyper_hidden, agents * embed);
  add("mixer.b1", {}, embed);
  add("mixer.w2", options.hyper_hidden, embed);
  add("mixer.v", {embed}, 1);
}

tensor_layout mixing_network::layout() const {
  tensor_layout made;
  for (const auto& each : hypers_) made.add(each.name, each.net);
  return made;
}

void mixing_network::initialise(action_random& random, float* parameters) const {
  for (const auto& each : hypers_) each.net.initialise_uniform(random, parameters + each.first);
}

variable mixing_network::mix(variable obs, variable q, const parameter_block& block,
                             std::size_t first) {
  if (sees_nothing_) ones_.assign(static_cast<std::size_t>(q.rows()), 1.0f);
  const auto state =
      sees_nothing_ ? obs.owner().constant(ones_)
                    : slice(obs, static_cast<int>(input_.begin), static_cast<int>(input_.size));
  const auto made_by = [&](int which) {
    const auto& hyper = hypers_[static_cast<std::size_t>(which)];
    return perceptron(hyper.net, state, block, first + hyper.first).outputs;
  };
  const auto hidden = elu(row_dense(q, abs(made_by(w1)), made_by(b1)));
  return row_dense(hidden, abs(made_by(w2)), made_by(v));
}

}  // namespace troupe
