#include "actors/torch.hpp"

#include "algorithms/ppo/rollout_learner.hpp"

namespace troupe {

std::string rollout_learner::save() const {
  const auto state = learner_.state();
  action_random random(0);
  random.set_state(state.random);
  state_writer to;
  to.put("optimizer_steps", state.optimizer.step);
  to.put("first_moment", state.optimizer.first_moment);
  to.put("second_moment", state.optimizer.second_moment);
  put_random(to, "random", random);
  to.put("n_updates", state.n_updates);
  to.put("skipped_in_a_row", state.skipped_in_a_row);
  return to.bytes();
}

void rollout_learner::restore(const std::string& bytes) {
  const state_reader from(bytes);
  auto state = learner_.state();
  from.get("optimizer_steps", state.optimizer.step);
  from.get("first_moment", state.optimizer.first_moment);
  from.get("second_moment", state.optimizer.second_moment);
  state.random = get_action_random(from, "random").state();
  from.get("n_updates", state.n_updates);
  from.get("skipped_in_a_row", state.skipped_in_a_row);
  learner_.set_state(state);
}

}  // namespace troupe
