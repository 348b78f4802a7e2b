#include "actors/policy/shape_of.hpp"

#include <algorithm>
#include <stdexcept>

namespace troupe {

network_shape shape_of(const env_spec& spec) {
  network_shape shape;
  shape.obs_size = static_cast<int>(spec.observation_space.flat_size());
  const auto& actions = spec.action_space;
  if (const auto* one = actions.get_if<spaces::discrete>(); one && one->start == 0) {
    shape.discrete_actions = static_cast<int>(one->n);
  } else if (const auto* many = actions.get_if<spaces::multi_discrete>();
             many && std::ranges::all_of(many->start, [](auto start) { return start == 0; })) {
    for (const auto n : many->n) shape.multi_discrete.push_back(static_cast<int>(n));
  } else if (actions.get_if<spaces::box>()) {
    shape.continuous_size = static_cast<int>(actions.flat_size());
  } else {
    throw std::invalid_argument("environment " + spec.id + ": no network here gives actions of " +
                                to_string(actions) +
                                "; expected Discrete or MultiDiscrete, from 0, or Box");
  }
  return shape;
}

}  // namespace troupe
