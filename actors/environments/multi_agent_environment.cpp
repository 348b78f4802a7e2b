#include "actors/environments/multi_agent_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace troupe {

const agent_layout& multi_agent_environment::layout() {
  if (!layout_) {
    layout_.emplace(spec());
    results_.resize(layout_->count());
    ended_.resize(layout_->count());  // `set_ended` may have come before
  }
  return *layout_;
}

/// Writes what an environment need not: all agents act that have not ended, and every choice is
/// allowed.
void multi_agent_environment::prepare(std::span<float> obs) {
  const auto active = layout_->active();
  for (std::size_t i = 0; i < active.size; ++i) obs[active.begin + i] = ended_[i] ? 0.0F : 1.0F;
  std::ranges::fill(layout_->masks().of(obs), 1.0F);
}

std::optional<bool> multi_agent_environment::success() const { return std::nullopt; }

void multi_agent_environment::reset(std::optional<std::uint64_t> seed, std::span<float> obs) {
  layout();
  std::ranges::fill(ended_, std::uint8_t{0});
  prepare(obs);
  begin(seed, {*layout_, obs});
}

step_result multi_agent_environment::step(action_view action, std::span<float> obs) {
  layout();
  std::ranges::fill(results_, agent_step());
  prepare(obs);
  act({*layout_, action}, {*layout_, obs}, results_);
  step_result result;
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const auto& of = results_[i];
    if (!std::isfinite(of.reward))
      refuse(i, of.reward != of.reward ? "got a reward of NaN" : "got an infinite reward");
    if (!std::isfinite(static_cast<float>(of.reward)))
      refuse(i, "got a reward that no float of 32 bits has");
    result.reward += of.reward;
    result.truncated |= of.ended == episode_end::truncated;
    result.terminated |= of.ended == episode_end::terminated;
  }
  result.reward /= static_cast<double>(results_.size());
  result.success = success();
  if (settle(obs)) {
    result.truncated = result.terminated = false;
  } else {
    // Of agents that end together, some by a limit, the episode as a whole was cut short.
    result.terminated = !result.truncated;
  }
  return result;
}

bool multi_agent_environment::settle(std::span<float> obs) {
  const auto active = layout_->active();
  bool any_acts = false, any_ended = false;
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const bool ends = results_[i].ended != episode_end::none;
    if (ends && ended_[i]) refuse(i, "ended after its end");
    any_ended |= ends;
    if (active.size == 0) {
      any_acts |= !ends;
    } else {
      if (ends) obs[active.begin + i] = 0.0F;
      if (layout_->acts(obs, i) && ended_[i]) refuse(i, "is to act after its end");
      any_acts |= layout_->acts(obs, i);
    }
    ended_[i] |= static_cast<std::uint8_t>(ends);
  }
  if (active.size == 0 && any_acts && any_ended) {
    const auto still = std::ranges::find(ended_, std::uint8_t{0}) - ended_.begin();
    refuse(static_cast<std::size_t>(still), "did not end when others did, which needs agents_vary");
  }
  return any_acts;
}

void multi_agent_environment::refuse(std::size_t agent, const char* problem) {
  const auto own = spec();
  throw std::runtime_error(
      fmt::format("{}: agent \"{}\" {}", own.id, own.agents.at(agent).name, problem));
}

}  // namespace troupe
