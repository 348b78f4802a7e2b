#include "actors/openenv/server/played_environment.hpp"

#include <algorithm>
#include <utility>

namespace troupe::openenv_server {

namespace {

[[noreturn]] void fail(const env_failure& failure) {
  throw execution_error(failure.id + ": " + failure.message + "; the episode is over");
}

}  // namespace

played_environment::played_environment(std::unique_ptr<vector_environment> one)
    : one_(std::move(one)) {
  if (one_->size() != 1)
    throw std::invalid_argument("played_environment: expected one environment, got " +
                                std::to_string(one_->size()));
}

played_environment::view played_environment::reset(std::optional<std::uint64_t> seed) {
  const bool is_begun = std::exchange(phase_, phase::over) == phase::begun_anew;
  if (seed || !is_begun) {
    auto begun = one_->reset(seed);
    // After a failed reset the new episode does not have that seed.
    if (!begun.failures.empty()) fail(begun.failures.back());
    next_obs_ = std::move(begun.obs);
  }
  phase_ = phase::under_way;
  return {.obs = next_obs_};
}

played_environment::view played_environment::step(env_actions& action) {
  if (phase_ == phase::fresh) throw execution_error("step: expected a reset before the first step");
  if (phase_ != phase::under_way)
    throw execution_error("step: the episode has ended; expected a reset");
  phase_ = phase::over;
  one_->step_into(action, step_);
  // A failure while the next episode began is no failure of this step.
  const auto failure = std::ranges::find(step_.failures, false, &env_failure::at_reset);
  if (failure != step_.failures.end()) {
    begin_next();
    fail(*failure);
  }
  view seen{.obs = step_.obs,
            .reward = step_.reward[0],
            .terminated = step_.terminated[0] != 0,
            .truncated = step_.truncated[0] != 0};
  if (seen.done()) {
    seen.obs = step_.finished.front().final_obs;
    begin_next();
  } else {
    phase_ = phase::under_way;
  }
  return seen;
}

void played_environment::begin_next() {
  next_obs_ = step_.obs;
  phase_ = phase::begun_anew;
}

}  // namespace troupe::openenv_server
