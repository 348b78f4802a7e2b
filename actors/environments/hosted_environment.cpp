#include "actors/environments/hosted_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/random/derived_seed.hpp"
#include "runtime/base/error.hpp"

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
      observers_(std::move(observers)),
      index_(info.index) {
  const auto spec = environments_->spec();
  grades_ = spec.levels > 1 || !spec.tasks.empty();
  if (discount) returns_.emplace(environments_->size(), *discount);
}

namespace {

/// Returns how many environments have taken the step: a failed one has begun another episode.
std::int64_t steps_of(const env_step& after) {
  const auto failed = std::ranges::count(after.failures, false, &env_failure::at_reset);
  return static_cast<std::int64_t>(after.reward.size()) - failed;
}

}  // namespace

env_observation hosted_environment::observe() {
  const bool begins = !obs_;
  if (begins) {
    auto begun = try_reset(std::exchange(seed_, std::nullopt));
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
  if (observers_.stepped) observers_.stepped(steps_of(after));
  if (observers_.episode_ended) {
    for (const auto& e : after.finished) {
      observers_.episode_ended(e.episode_return, e.length, !after.terminated[e.index]);
    }
  }
  if (after.process_replaced && observers_.process_replaced)
    observers_.process_replaced(*after.process_replaced);
  if (grades_) grade(after);
  report(after.failures);
  require_some_success(after);
  return after;
}

void hosted_environment::grade(const env_step& after) {
  for (const auto& e : after.finished)
    graded_.push_back({e.level, e.success, e.task, e.episode_return});
  if (graded_.size() <= graded_max) return;
  graded_.erase(graded_.begin(), graded_.end() - static_cast<std::ptrdiff_t>(graded_max));
}

void hosted_environment::set_level(std::size_t level) { environments_->set_level(level); }

void hosted_environment::set_turns(std::vector<std::size_t> turns, std::size_t replicas) {
  std::vector<std::size_t> own;
  for (std::size_t i = index_; i < turns.size(); i += replicas) own.push_back(turns[i]);
  environments_->set_turns(std::move(own));
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

namespace {

struct hosted_state {
  std::optional<std::string> environments;  ///< nullopt: they can't be saved, so they are reset.
  std::optional<std::uint64_t> seed;
  std::optional<std::vector<float>> obs;
  std::optional<std::string> returns;
  std::int64_t failures;
  std::vector<graded_episode> graded;
};

}  // namespace

std::string hosted_environment::save() {
  return state_bytes(hosted_state{environments_->save(), seed_, obs_,
                                  returns_ ? std::optional(returns_->state()) : std::nullopt,
                                  failures_, graded_});
}

void hosted_environment::restore(std::string bytes) {
  auto state = state_of<hosted_state>(bytes);
  if (grades_) graded_ = std::move(state.graded);
  if (!state.environments) return;
  environments_->restore(*state.environments);
  seed_ = state.seed;
  obs_ = std::move(state.obs);
  if (returns_ && state.returns) returns_->set_state(*state.returns);
  failures_ = state.failures;
}

env_reset hosted_environment::try_reset(std::optional<std::uint64_t> seed) {
  try {
    return environments_->reset(seed);
  } catch (const environment_process_lost& error) {
    end_with(error);
  }
}

env_step hosted_environment::try_step(env_actions actions) {
  try {
    return environments_->step(std::move(actions));
  } catch (const environment_lost&) {
    obs_.reset();
    throw;
  } catch (const environment_process_lost& error) {
    end_with(error);
  }
}

void hosted_environment::end_with(const environment_process_lost& error) {
  std::vector<env_failure> lost(environments_->size());
  const auto id = environments_->spec().id;
  for (std::size_t i = 0; i < lost.size(); ++i)
    lost[i] = {.index = i, .id = id, .reason = env_failure_reason::lost, .message = error.what()};
  if (obs_) report(lost);  // without observations no episode was under way
  throw fatal(error.what());
}

void hosted_environment::report(const std::vector<env_failure>& failures) const {
  if (!observers_.failed) return;
  for (const auto& failure : failures) observers_.failed(failure);
}

}  // namespace troupe
