#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/transition_rollout.hpp"

namespace troupe {

task<collected_transitions> generate_transitions(transition_roles roles) {
  const auto one = co_await roles.collectors.session();
  const auto first = *roles.begun;
  *roles.begun += roles.steps * roles.environments;
  co_return co_await one.route<&collector::collect>(first, roles.steps);
}

}  // namespace troupe
