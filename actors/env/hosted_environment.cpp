#include "actors/env/hosted_environment.hpp"

namespace troupe {

hosted_environment::hosted_environment(const replica_info& info, const factory& make,
                                       std::uint64_t seed, env_observers observers)
    : environments_(make()),
      seed_(seed + 1'000'003 * info.index + 7'368'787 * info.generation),
      observers_(std::move(observers)) {}

env_observation hosted_environment::observe() {
  if (!obs_) obs_ = environments_->reset(seed_).obs;
  return {*obs_, static_cast<std::int64_t>(environments_->size())};
}

env_step hosted_environment::step(env_actions actions) {
  if (!obs_) observe();
  auto after = environments_->step(std::move(actions));
  obs_ = after.obs;
  if (observers_.stepped) observers_.stepped(static_cast<std::int64_t>(environments_->size()));
  if (observers_.episode_ended) {
    for (const auto& e : after.finished) {
      observers_.episode_ended(e.episode_return, e.length, !after.terminated[e.index]);
    }
  }
  if (observers_.failed) {
    for (const auto& failure : after.failures) observers_.failed(failure);
  }
  return after;
}

}  // namespace troupe
