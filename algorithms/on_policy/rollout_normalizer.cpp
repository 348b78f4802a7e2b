#include "algorithms/on_policy/rollout_normalizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "actors/checkpoint/state_codec.hpp"

namespace troupe {

normalized_columns::normalized_columns(const agent_rows& rows, std::size_t policy)
    : width_(static_cast<std::size_t>(rows.shape_of_policy(policy).obs_size)) {
  const auto& agent = rows.agents()[rows.agents_of(policy).front()];
  front_ = static_cast<std::size_t>(agent.obs_size);
  back_ = static_cast<std::size_t>(rows.shape_of_policy(policy).critic_only);
}

void normalized_columns::gather(std::span<const float> rows, std::span<float> to) const {
  auto next = to.begin();
  for (auto row = rows.begin(); row != rows.end(); row += static_cast<std::ptrdiff_t>(width_)) {
    next = std::copy_n(row, front_, next);
    next = std::copy_n(row + static_cast<std::ptrdiff_t>(width_ - back_), back_, next);
  }
}

void normalized_columns::scatter(std::span<const float> from, std::span<float> rows) const {
  auto next = from.begin();
  for (auto row = rows.begin(); row != rows.end(); row += static_cast<std::ptrdiff_t>(width_)) {
    std::copy_n(next, front_, row);
    next += static_cast<std::ptrdiff_t>(front_);
    std::copy_n(next, back_, row + static_cast<std::ptrdiff_t>(width_ - back_));
    next += static_cast<std::ptrdiff_t>(back_);
  }
}

running_moments normalized_columns::of_rows(const running_moments& columns) const {
  if (are_all()) return columns;
  // The variance with which a number is divided by exactly 1.
  const double unit = 1.0 - normalizer_options().epsilon;
  std::vector<double> mean(width_, 0.0), variance(width_, unit);
  const auto place = [&](std::span<const double> from, std::vector<double>& to) {
    std::ranges::copy(from.first(front_), to.begin());
    std::ranges::copy(from.last(back_), to.end() - static_cast<std::ptrdiff_t>(back_));
  };
  place(columns.mean(), mean);
  place(columns.variance(), variance);
  return running_moments::of(columns.count(), mean, variance);
}

running_moments normalized_columns::of_columns(const running_moments& rows) const {
  if (are_all() || rows.width() != width_) return rows;
  const auto take = [&](std::span<const double> from) {
    std::vector<double> taken(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(front_));
    const auto last = from.last(back_);
    taken.insert(taken.end(), last.begin(), last.end());
    return taken;
  };
  return running_moments::of(rows.count(), take(rows.mean()), take(rows.variance()));
}

rollout_normalizer::rollout_normalizer(std::vector<normalized_columns> columns, obs_normalizers obs,
                                       std::optional<running_normalizer> reward,
                                       std::int64_t replica)
    : columns_(std::move(columns)), obs_(std::move(obs)), reward_(std::move(reward)) {
  for (const auto& each : obs_) {
    seen_.obs.push_back(each ? running_moments(each->width()) : running_moments());
  }
  if (reward_) seen_.reward = running_moments(reward_->width());
  seen_.replica = replica;
}

void rollout_normalizer::add(std::size_t policy, std::span<const float> rows,
                             std::span<const std::uint8_t> acts) {
  if (!obs_[policy]) return;
  const auto& columns = columns_[policy];
  const auto width = rows.size() / acts.size();
  const bool all_act = std::ranges::find(acts, 0) == acts.end();
  auto counted = rows;
  if (!all_act || !columns.are_all()) {
    gathered_.clear();
    for (std::size_t i = 0; i < acts.size(); ++i) {
      if (acts[i] == 0) continue;
      const auto end = gathered_.size();
      gathered_.resize(end + columns.count());
      columns.gather(rows.subspan(i * width, width), std::span(gathered_).subspan(end));
    }
    counted = gathered_;
  }
  if (counted.empty()) return;
  obs_[policy]->update(counted);
  seen_.obs[policy].add(counted);
}

void rollout_normalizer::normalize(std::size_t policy, std::span<float> rows) const {
  if (!obs_[policy]) return;
  const auto& columns = columns_[policy];
  if (columns.are_all()) return obs_[policy]->apply(rows);
  gathered_.resize(rows.size() / columns.width() * columns.count());
  columns.gather(rows, gathered_);
  obs_[policy]->apply(std::span<float>(gathered_));
  columns.scatter(gathered_, rows);
}

void rollout_normalizer::take_rewards(env_step& after) {
  if (!reward_) return;
  if (after.discounted.size() != after.reward.size()) {
    throw std::invalid_argument(
        "rollout: rewards are normalised by discounted returns, which its environments don't give");
  }
  const std::span<const double> discounted(after.discounted);
  reward_->update(discounted);
  seen_.reward.add(discounted);
  reward_->apply(after.reward);
}

run_normalizer::run_normalizer(std::vector<normalized_columns> columns, bool rewards)
    : columns_(std::move(columns)) {
  for (const auto& each : columns_) {
    obs_.push_back(each.count() > 0 ? std::optional(running_normalizer(each.count()))
                                    : std::nullopt);
  }
  if (rewards) reward_.emplace(1, normalizer_options{.centre = false});
}

namespace {

/// Adds what a rollout has seen. Rollouts of this run have the same policies.
void update(rollout_normalizer::obs_normalizers& obs, std::optional<running_normalizer>& reward,
            const seen_statistics& by) {
  for (std::size_t i = 0; i < obs.size(); ++i) {
    if (obs[i]) obs[i]->update(by.obs.at(i));
  }
  if (reward) reward->update(by.reward);
}

}  // namespace

void run_normalizer::start_from(std::size_t policy, const running_moments& rows) {
  auto& obs = obs_.at(policy);
  if (obs) obs->set_state(columns_[policy].of_columns(rows).state());
}

rollout_normalizer run_normalizer::begin(std::int64_t replica) const {
  auto obs = obs_;
  auto reward = reward_;
  for (const auto& each : pending_) {
    if (each.replica == replica) update(obs, reward, each);
  }
  return {columns_, std::move(obs), std::move(reward), replica};
}

seen_statistics run_normalizer::end(const rollout_normalizer& of) {
  auto seen = of.seen();
  seen.number = ended_++;
  pending_.push_back(seen);
  return seen;
}

void run_normalizer::take_in(std::vector<seen_statistics> batch) {
  std::ranges::sort(batch, {},
                    [](const seen_statistics& s) { return std::pair(s.replica, s.number); });
  std::int64_t newest = -1;
  for (const auto& each : batch) {
    update(obs_, reward_, each);
    newest = std::max(newest, each.number);
  }
  // Rollouts are trained on in the order in which they ended, so an earlier rollout that is not in
  // the batch has been dropped.
  std::erase_if(pending_, [newest](const seen_statistics& s) { return s.number <= newest; });
}

std::vector<running_moments> run_normalizer::obs() const {
  std::vector<running_moments> rows;
  for (std::size_t i = 0; i < obs_.size(); ++i) {
    rows.push_back(obs_[i] ? columns_[i].of_rows(obs_[i]->moments()) : running_moments());
  }
  return rows;
}

namespace {

struct run_normalizer_state {
  std::vector<std::optional<std::string>> obs;  ///< Of each policy.
  std::optional<std::string> reward;
  std::vector<seen_statistics> pending;
  std::int64_t ended;
};

std::optional<std::string> state_of_one(const std::optional<running_normalizer>& which) {
  return which ? std::optional(which->state()) : std::nullopt;
}

void set_state(std::optional<running_normalizer>& which, const std::optional<std::string>& state) {
  if (which.has_value() != state.has_value()) {
    throw state_error("saved normalizer: expected one of the same observations and rewards");
  }
  if (which) which->set_state(*state);
}

}  // namespace

std::string run_normalizer::save() const {
  run_normalizer_state now{{}, state_of_one(reward_), pending_, ended_};
  for (const auto& each : obs_) now.obs.push_back(state_of_one(each));
  return state_bytes(now);
}

void run_normalizer::restore(std::string_view bytes) {
  auto state = state_of<run_normalizer_state>(bytes);
  if (state.obs.size() != obs_.size()) {
    throw state_error(fmt::format("saved normalizer: expected one of {} policies, got {}",
                                  obs_.size(), state.obs.size()));
  }
  for (std::size_t i = 0; i < obs_.size(); ++i) set_state(obs_[i], state.obs[i]);
  set_state(reward_, state.reward);
  pending_ = std::move(state.pending);
  ended_ = state.ended;
}

}  // namespace troupe
