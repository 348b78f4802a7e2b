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
      observers_(std::move(observers)),
      index_(info.index) {
  const auto spec = environments_->spec();
  grades_ = spec.levels > 1 || !spec.tasks.empty();
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

void put_graded(state_writer& to, const std::vector<graded_episode>& graded) {
  std::vector<std::size_t> levels, successes, tasks;
  std::vector<double> returns;
  for (const auto& one : graded) {
    levels.push_back(one.level);
    successes.push_back(one.success ? 1 : 0);
    tasks.push_back(one.task);
    returns.push_back(one.episode_return);
  }
  to.put("graded.levels", levels);
  to.put("graded.successes", successes);
  to.put("graded.tasks", tasks);
  to.put("graded.returns", returns);
}

std::vector<graded_episode> get_graded(const state_reader& from) {
  const auto levels = from.get<std::vector<std::size_t>>("graded.levels");
  const auto successes = from.get<std::vector<std::size_t>>("graded.successes");
  const auto tasks = from.get<std::vector<std::size_t>>("graded.tasks");
  const auto returns = from.get<std::vector<double>>("graded.returns");
  std::vector<graded_episode> graded;
  for (std::size_t i = 0; i < levels.size(); ++i)
    graded.push_back({levels[i], successes.at(i) != 0, tasks.at(i), returns.at(i)});
  return graded;
}

}  // namespace

std::string hosted_environment::save() {
  state_writer to;
  if (const auto environments = environments_->save()) {
    to.put("environments", *environments);
    if (seed_) to.put("seed", *seed_);
    if (obs_) to.put("obs", *obs_);
    if (returns_) to.put("returns", returns_->state());
    to.put("failures", failures_);
  }
  if (grades_) put_graded(to, graded_);
  return to.bytes();
}

void hosted_environment::restore(std::string bytes) {
  const state_reader from(bytes);
  if (grades_) graded_ = get_graded(from);
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
