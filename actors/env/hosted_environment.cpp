#include "actors/env/hosted_environment.hpp"

#include <fmt/format.h>

#include <utility>

#include "actors/derived_seed.hpp"

namespace troupe {

std::uint64_t hosted_environment::first_seed(const replica_info& info, std::uint64_t seed) {
  return environment_seed(seed, "environments", {info.index, info.generation});
}

hosted_environment::hosted_environment(const replica_info& info, const factory& make,
                                       std::uint64_t seed, env_observers observers,
                                       std::optional<double> discount, std::size_t groups)
    : environments_(make()),
      seed_(first_seed({info.index / groups, info.generation}, seed) +
            environments_->size() * (info.index % groups)),
      observers_(std::move(observers)) {
  if (discount) returns_.emplace(environments_->size(), *discount);
}

env_observation hosted_environment::observe() {
  const bool begins = !obs_;
  if (begins) {
    auto begun = environments_->reset(std::exchange(seed_, std::nullopt));
    report(begun.failures);
    obs_.emplace(begun.obs.begin(), begun.obs.end());
  }
  return {{obs_->begin(), obs_->end()}, static_cast<std::int64_t>(environments_->size()), begins};
}

env_step hosted_environment::step(env_actions actions) {
  if (!obs_) observe();
  auto after = try_step(std::move(actions));
  obs_->assign(after.obs.begin(), after.obs.end());
  if (returns_) discount(after);
  if (observers_.stepped) observers_.stepped(static_cast<std::int64_t>(environments_->size()));
  if (observers_.episode_ended) {
    for (const auto& e : after.finished) {
      observers_.episode_ended(e.episode_return, e.length, !after.terminated[e.index]);
    }
  }
  report(after.failures);
  require_some_success(after);
  return after;
}

void hosted_environment::require_some_success(const env_step& after) {
  if (!after.finished.empty()) failures_ = 0;
  if (after.failures.empty()) return;
  failures_ += static_cast<std::int64_t>(after.failures.size());
  if (failures_ < failures_max * static_cast<std::int64_t>(environments_->size())) return;
  const auto& last = after.failures.back();
  throw environment_failed(fmt::format(
      "{}: {} episodes were dropped, and none has ended between: it {}: {}", last.id, failures_,
      last.reason == env_failure_reason::threw ? "threw" : "breaks its contract", last.message));
}

void hosted_environment::discount(env_step& after) {
  returns_->step(after.reward, after.terminated, after.truncated);
  after.discounted.assign(returns_->sums().begin(), returns_->sums().end());
  for (const auto& failure : after.failures) {
    if (!failure.at_reset) returns_->restart(failure.index);
  }
}

std::string hosted_environment::save() {
  state_writer to;
  if (const auto environments = environments_->save()) {
    to.put("environments", *environments);
    if (seed_) to.put("seed", *seed_);
    if (obs_) to.put("obs", *obs_);
    if (returns_) to.put("returns", returns_->state());
    to.put("failures", failures_);
  }
  return to.bytes();
}

void hosted_environment::restore(std::string bytes) {
  const state_reader from(bytes);
  if (!from.has("environments")) return;
  environments_->restore(from.get<std::string>("environments"));
  seed_.reset();
  obs_.reset();
  if (from.has("seed")) seed_ = from.get<std::uint64_t>("seed");
  if (returns_ && from.has("returns")) returns_->set_state(from.get<std::string>("returns"));
  if (from.has("failures")) from.get("failures", failures_);
  if (from.has("obs")) obs_ = from.get<std::vector<float>>("obs");
}

env_step hosted_environment::try_step(env_actions actions) {
  try {
    return environments_->step(std::move(actions));
  } catch (const environment_lost&) {
    obs_.reset();
    throw;
  }
}

void hosted_environment::report(const std::vector<env_failure>& failures) const {
  if (!observers_.failed) return;
  for (const auto& failure : failures) observers_.failed(failure);
}

}  // namespace troupe
