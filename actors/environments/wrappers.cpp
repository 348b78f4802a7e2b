#include "actors/environments/wrappers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace troupe {
namespace {

const spaces::box& box_of(const space& space, const std::string& id, const char* what) {
  if (const auto* box = space.get_if<spaces::box>()) return *box;
  throw std::invalid_argument(
      fmt::format("{}: expected a Box to {}, got {}", id, what, to_string(space)));
}

}  // namespace

time_limit::time_limit(std::unique_ptr<environment> inner, std::int64_t max_episode_steps)
    : inner_(std::move(inner)), max_episode_steps_(max_episode_steps) {
  if (max_episode_steps < 1)
    throw std::invalid_argument(fmt::format("{}: expected a time limit of at least 1 step, got {}",
                                            inner_->spec().id, max_episode_steps));
}

env_spec time_limit::spec() const {
  auto spec = inner_->spec();
  spec.max_episode_steps = max_episode_steps_;
  return spec;
}

void time_limit::reset(std::optional<std::uint64_t> seed, std::span<float> obs) {
  inner_->reset(seed, obs);
}

step_result time_limit::step(action_view action, std::span<float> obs) {
  return inner_->step(action, obs);
}

bool time_limit::save(state_writer& to) const { return inner_->save(to); }

void time_limit::restore(const state_reader& from) { inner_->restore(from); }

frame_stack::frame_stack(std::unique_ptr<environment> inner, std::int64_t frames)
    : inner_(std::move(inner)), spec_(inner_->spec()), width_(spec_.observation_space.flat_size()) {
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

rescale_action::rescale_action(std::unique_ptr<environment> inner)
    : inner_(std::move(inner)), spec_(inner_->spec()) {
  auto box = box_of(spec_.action_space, spec_.id, "rescale actions");
  low_ = box.low;
  high_ = box.high;
  const auto is_finite = [](float bound) { return std::isfinite(bound); };
  if (!std::all_of(low_.begin(), low_.end(), is_finite) ||
      !std::all_of(high_.begin(), high_.end(), is_finite))
    throw std::invalid_argument(fmt::format("{}: expected finite bounds to rescale actions, got {}",
                                            spec_.id, to_string(spec_.action_space)));
  stretched_.resize(low_.size());
  std::fill(box.low.begin(), box.low.end(), -1.0F);
  std::fill(box.high.begin(), box.high.end(), 1.0F);
  spec_.action_space = std::move(box);
}

void rescale_action::reset(std::optional<std::uint64_t> seed, std::span<float> obs) {
  inner_->reset(seed, obs);
}

step_result rescale_action::step(action_view action, std::span<float> obs) {
  const auto given = action.continuous();
  for (std::size_t i = 0; i < stretched_.size(); ++i) {
    const float share = (given[i] + 1) / 2;
    stretched_[i] = std::clamp(low_[i] + share * (high_[i] - low_[i]), low_[i], high_[i]);
  }
  return inner_->step(action_view(std::span<const float>(stretched_)), obs);
}

bool rescale_action::save(state_writer& to) const { return inner_->save(to); }

void rescale_action::restore(const state_reader& from) { inner_->restore(from); }

std::unique_ptr<environment> wrapped(std::unique_ptr<environment> inner,
                                     const wrapper_options& options) {
  if (options.max_episode_steps)
    inner = std::make_unique<time_limit>(std::move(inner), *options.max_episode_steps);
  if (options.frames != 1) inner = std::make_unique<frame_stack>(std::move(inner), options.frames);
  if (options.rescale_actions) inner = std::make_unique<rescale_action>(std::move(inner));
  return inner;
}

}  // namespace troupe
