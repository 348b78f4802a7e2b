#include "actors/torch.hpp"

#include "algorithms/on_policy/rollout_learner.hpp"

namespace troupe {

namespace {

void put(state_writer& to, const optimizer_state& state) {
  if (const auto* a = std::get_if<adam_state>(&state)) {
    to.put("optimizer_steps", a->step);
    to.put("first_moment", a->first_moment);
    to.put("second_moment", a->second_moment);
    return;
  }
  const auto& r = std::get<rmsprop_state>(state);
  to.put("optimizer_steps", r.step);
  to.put("mean_square", r.mean_square);
}

/// Into a state of the optimiser that is expected.
void get(const state_reader& from, optimizer_state& state) {
  if (auto* a = std::get_if<adam_state>(&state)) {
    from.get("optimizer_steps", a->step);
    from.get("first_moment", a->first_moment);
    from.get("second_moment", a->second_moment);
    return;
  }
  auto& r = std::get<rmsprop_state>(state);
  from.get("optimizer_steps", r.step);
  from.get("mean_square", r.mean_square);
}

}  // namespace

rollout_batch rollout_learner::shard_of(rollout_batch whole) const {
  if (!ranks_) return whole;
  const auto rank = static_cast<std::int64_t>(ranks_->rank());
  const auto world = static_cast<std::int64_t>(ranks_->world());
  const auto environments = whole.environments();
  const auto first = environments * rank / world;
  return of_environments(whole, first, environments * (rank + 1) / world - first);
}

std::string rollout_learner::save() const {
  const auto state = learner_.state();
  action_random random(0);
  random.set_state(state.random);
  state_writer to;
  put(to, state.optimizer);
  put_random(to, "random", random);
  to.put("n_updates", state.n_updates);
  to.put("skipped_in_a_row", state.skipped_in_a_row);
  return to.bytes();
}

void rollout_learner::restore(const std::string& bytes) {
  const state_reader from(bytes);
  auto state = learner_.state();
  get(from, state.optimizer);
  state.random = get_action_random(from, "random").state();
  from.get("n_updates", state.n_updates);
  from.get("skipped_in_a_row", state.skipped_in_a_row);
  learner_.set_state(state);
}

}  // namespace troupe
