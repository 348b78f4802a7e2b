#include "algorithms/on_policy/rollout_normalizer.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "actors/checkpoint/state_codec.hpp"

namespace troupe {

rollout_normalizer::rollout_normalizer(std::optional<running_normalizer> obs,
                                       std::optional<running_normalizer> reward,
                                       std::int64_t replica)
    : obs_(std::move(obs)), reward_(std::move(reward)) {
  if (obs_) seen_.obs = running_moments(obs_->width());
  if (reward_) seen_.reward = running_moments(reward_->width());
  seen_.replica = replica;
}

void rollout_normalizer::add_begun(std::span<const float> obs) {
  if (!obs_) return;
  obs_->update(obs);
  seen_.obs.add(obs);
}

void rollout_normalizer::normalize(std::span<float> obs) const {
  if (obs_) obs_->apply(obs);
}

void rollout_normalizer::take_step(env_step& after) {
  if (obs_) {
    add_begun(after.obs);
    normalize(after.obs);
    for (auto& ended : after.finished) normalize(ended.final_obs);
  }
  if (reward_) {
    if (after.discounted.size() != after.reward.size()) {
      throw std::invalid_argument(
          "rollout: rewards are normalised by discounted returns, which its environments don't "
          "give");
    }
    const std::span<const double> discounted(after.discounted);
    reward_->update(discounted);
    seen_.reward.add(discounted);
    reward_->apply(after.reward);
  }
}

run_normalizer::run_normalizer(std::size_t obs_size, bool rewards) {
  if (obs_size > 0) obs_.emplace(obs_size);
  if (rewards) reward_.emplace(1, normalizer_options{.centre = false});
}

namespace {

void update(std::optional<running_normalizer>& which, const running_moments& by) {
  if (which) which->update(by);
}

}  // namespace

void run_normalizer::start_from(const running_moments& obs) {
  if (obs_) obs_->set_state(obs.state());
}

rollout_normalizer run_normalizer::begin(std::int64_t replica) const {
  auto obs = obs_;
  auto reward = reward_;
  for (const auto& each : pending_) {
    if (each.replica != replica) continue;
    update(obs, each.obs);
    update(reward, each.reward);
  }
  return {std::move(obs), std::move(reward), replica};
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
    update(obs_, each.obs);
    update(reward_, each.reward);
    newest = std::max(newest, each.number);
  }
  // Rollouts are trained on in the order in which they ended, so an earlier rollout that is not in
  // the batch has been dropped.
  std::erase_if(pending_, [newest](const seen_statistics& s) { return s.number <= newest; });
}

namespace {

struct run_normalizer_state {
  std::optional<std::string> obs, reward;
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
  return state_bytes(
      run_normalizer_state{state_of_one(obs_), state_of_one(reward_), pending_, ended_});
}

void run_normalizer::restore(std::string_view bytes) {
  auto state = state_of<run_normalizer_state>(bytes);
  set_state(obs_, state.obs);
  set_state(reward_, state.reward);
  pending_ = std::move(state.pending);
  ended_ = state.ended;
}

}  // namespace troupe
