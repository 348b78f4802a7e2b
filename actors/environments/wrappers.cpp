#include "actors/environments/wrappers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "actors/environments/agent_wrappers.hpp"

namespace troupe {
namespace {

const spaces::box& box_of(const space& space, const std::string& id, const char* what) {
  if (const auto* box = space.get_if<spaces::box>()) return *box;
  throw std::invalid_argument(
      fmt::format("{}: expected a Box to {}, got {}", id, what, to_string(space)));
}

}  // namespace

time_limit::time_limit(std::unique_ptr<environment> inner, std::int64_t max_episode_steps)
    : environment_wrapper(std::move(inner)), max_episode_steps_(max_episode_steps) {
  if (max_episode_steps < 1)
    throw std::invalid_argument(fmt::format("{}: expected a time limit of at least 1 step, got {}",
                                            inner_->spec().id, max_episode_steps));
}

env_spec time_limit::spec() const {
  auto spec = inner_->spec();
  spec.max_episode_steps = max_episode_steps_;
  return spec;
}

frame_stack::frame_stack(std::unique_ptr<environment> inner, std::int64_t frames)
    : environment_wrapper(std::move(inner)),
      spec_(inner_->spec()),
      width_(spec_.observation_space.flat_size()) {
  if (frames < 1)
    throw std::invalid_argument(
        fmt::format("{}: expected at least 1 frame, got {}", spec_.id, frames));
  spaces::box stacked;
  const auto& one = box_of(spec_.observation_space, spec_.id, "stack");
  for (std::int64_t i = 0; i < frames; ++i) {
    stacked.low.insert(stacked.low.end(), one.low.begin(), one.low.end());
    stacked.high.insert(stacked.high.end(), one.high.begin(), one.high.end());
  }
  stacked.shape = one.shape;
  stacked.type = one.type;
  stacked.shape.insert(stacked.shape.begin(), frames);
  stack_.resize(stacked.low.size());
  spec_.observation_space = std::move(stacked);
}

// The inner environment writes at the end of the row. So the check of the row finds floats that it
// leaves out and floats that it writes past the end.
void frame_stack::reset(std::optional<std::uint64_t> seed, std::span<float> obs) {
  const auto first = obs.last(width_);
  inner_->reset(seed, first);
  for (std::size_t at = 0; at < stack_.size(); at += width_)
    std::copy(first.begin(), first.end(), stack_.begin() + static_cast<std::ptrdiff_t>(at));
  std::copy(stack_.begin(), stack_.end(), obs.begin());
}

step_result frame_stack::step(action_view action, std::span<float> obs) {
  const auto newest = obs.last(width_);
  const auto result = inner_->step(action, newest);
  std::move(stack_.begin() + static_cast<std::ptrdiff_t>(width_), stack_.end(), stack_.begin());
  std::copy(newest.begin(), newest.end(), stack_.end() - static_cast<std::ptrdiff_t>(width_));
  std::copy(stack_.begin(), stack_.end(), obs.begin());
  return result;
}

bool frame_stack::save(state_writer& to) const {
  state_writer inner;
  if (!inner_->save(inner)) return false;
  to.put("inner", inner.bytes());
  to.put("frames", stack_);
  return true;
}

void frame_stack::restore(const state_reader& from) {
  const auto frames = from.get<std::vector<float>>("frames");
  if (frames.size() != stack_.size())
    throw state_error(fmt::format("{}: expected frames of {} numbers, got {}", spec_.id,
                                  stack_.size(), frames.size()));
  inner_->restore(state_reader(from.get<std::string>("inner")));
  stack_ = frames;
}

action_scaling::action_scaling(const env_spec& of) {
  const auto& box = box_of(of.action_space, of.id, "rescale actions");
  low_ = box.low;
  high_ = box.high;
  const auto is_finite = [](float bound) { return std::isfinite(bound); };
  if (!std::ranges::all_of(low_, is_finite) || !std::ranges::all_of(high_, is_finite))
    throw std::invalid_argument(fmt::format("{}: expected finite bounds to rescale actions, got {}",
                                            of.id, to_string(of.action_space)));
}

env_spec action_scaling::scaled(env_spec spec) {
  auto box = box_of(spec.action_space, spec.id, "rescale actions");
  std::ranges::fill(box.low, -1.0F);
  std::ranges::fill(box.high, 1.0F);
  spec.action_space = std::move(box);
  return spec;
}

void action_scaling::write(std::span<const float> given, std::span<float> to) const {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const float share = (given[i] + 1) / 2;
    to[i] = std::clamp(low_[i] + share * (high_[i] - low_[i]), low_[i], high_[i]);
  }
}

rescale_action::rescale_action(std::unique_ptr<environment> inner)
    : environment_wrapper(std::move(inner)),
      scaling_(inner_->spec()),
      spec_(action_scaling::scaled(inner_->spec())),
      stretched_(scaling_.size()) {}

step_result rescale_action::step(action_view action, std::span<float> obs) {
  scaling_.write(action.continuous(), stretched_);
  return inner_->step(action_view(std::span<const float>(stretched_)), obs);
}

scale_reward::scale_reward(std::unique_ptr<environment> inner, double factor,
                           std::optional<double> clip)
    : environment_wrapper(std::move(inner)), factor_(factor), clip_(clip) {
  if (!std::isfinite(factor))
    throw std::invalid_argument(
        fmt::format("{}: expected a finite factor of rewards, got {}", inner_->spec().id, factor));
  if (clip && !(*clip > 0))
    throw std::invalid_argument(fmt::format(
        "{}: expected to clip rewards to +-c with c > 0, got {}", inner_->spec().id, *clip));
}

env_spec scale_reward::spec() const {
  auto spec = inner_->spec();
  if (spec.reward_threshold) *spec.reward_threshold *= factor_;
  if (clip_) spec.reward_threshold.reset();
  return spec;
}

step_result scale_reward::step(action_view action, std::span<float> obs) {
  auto result = inner_->step(action, obs);
  const auto steps = inner_->agent_steps();
  agents_.assign(steps.begin(), steps.end());
  if (agents_.empty()) {
    result.reward = changed(result.reward);
    return result;
  }
  result.reward = 0;
  for (auto& agent : agents_) {
    agent.reward = changed(agent.reward);
    result.reward += agent.reward / static_cast<double>(agents_.size());
  }
  return result;
}

double scale_reward::changed(double reward) const {
  reward *= factor_;
  // NaN stays NaN, so that the caller finds it.
  if (clip_ && std::isfinite(reward)) reward = std::clamp(reward, -*clip_, *clip_);
  return reward;
}

shape_reward::shape_reward(std::unique_ptr<environment> inner, potential of, double gamma)
    : environment_wrapper(std::move(inner)), potential_(std::move(of)), gamma_(gamma) {
  if (!potential_)
    throw std::invalid_argument(inner_->spec().id + ": expected a potential to shape rewards");
}

env_spec shape_reward::spec() const {
  auto spec = inner_->spec();
  spec.reward_threshold.reset();
  return spec;
}

void shape_reward::reset(std::optional<std::uint64_t> seed, std::span<float> obs) {
  inner_->reset(seed, obs);
  now_ = potential_(obs);
}

step_result shape_reward::step(action_view action, std::span<float> obs) {
  auto result = inner_->step(action, obs);
  const double next = result.terminated ? 0 : potential_(obs);
  result.reward += gamma_ * next - now_;
  now_ = next;
  return result;
}

bool shape_reward::save(state_writer& to) const {
  state_writer inner;
  if (!inner_->save(inner)) return false;
  to.put("inner", inner.bytes());
  to.put("potential", now_);
  return true;
}

void shape_reward::restore(const state_reader& from) {
  inner_->restore(state_reader(from.get<std::string>("inner")));
  now_ = from.get<double>("potential");
}

std::unique_ptr<environment> wrapped(std::unique_ptr<environment> inner,
                                     const wrapper_options& options) {
  if (options.max_episode_steps)
    inner = std::make_unique<time_limit>(std::move(inner), *options.max_episode_steps);
  if (options.difference_rewards) inner = std::make_unique<difference_rewards>(std::move(inner));
  if (options.channel)
    inner = std::make_unique<message_channel>(std::move(inner), *options.channel);
  if (options.reward_scale != 1 || options.reward_clip)
    inner =
        std::make_unique<scale_reward>(std::move(inner), options.reward_scale, options.reward_clip);
  if (options.frames != 1) inner = std::make_unique<frame_stack>(std::move(inner), options.frames);
  if (options.rescale_actions) inner = std::make_unique<rescale_action>(std::move(inner));
  return inner;
}

}  // namespace troupe
