#include "actors/policy/network.hpp"

#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace troupe {

std::vector<int> network_shape::choices() const {
  if (discrete_actions > 0) return {discrete_actions};
  return multi_discrete;
}

int network_shape::action_size() const {
  return is_continuous() ? continuous_size : static_cast<int>(choices().size());
}

int network_shape::actor_outputs() const {
  const auto sizes = choices();
  return is_continuous() ? continuous_size : std::accumulate(sizes.begin(), sizes.end(), 0);
}

std::string to_string(const network_shape& shape) {
  std::string kind = fmt::format("multi-discrete {}", fmt::join(shape.multi_discrete, "x"));
  if (shape.is_continuous()) kind = fmt::format("continuous {}", shape.continuous_size);
  if (shape.discrete_actions > 0) kind = fmt::format("discrete {}", shape.discrete_actions);
  return fmt::format("obs {}, {}", shape.obs_size, kind);
}

std::string to_string(const network_shape& shape, const network_options& options) {
  const char* name = options.hidden_activation == activation::tanh ? "tanh" : "relu";
  return fmt::format("{}, hidden {} {}", to_string(shape), fmt::join(options.hidden, "-"), name);
}

}  // namespace troupe
