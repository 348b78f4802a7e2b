#include "actors/environments/action_checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace troupe::detail {

action_checker::action_checker(const env_spec& spec, std::size_t count)
    : id_(spec.id), action_space_(spec.action_space), count_(count) {
  if (const auto* box = action_space_.get_if<spaces::box>()) {
    is_box_ = true;
    width_ = box->low.size();
    for (std::size_t i = 0; i < count; ++i) {
      low_.insert(low_.end(), box->low.begin(), box->low.end());
      high_.insert(high_.end(), box->high.begin(), box->high.end());
    }
  } else if (const auto* one = action_space_.get_if<spaces::discrete>()) {
    first_ = {one->start};
    end_ = {one->start + one->n};
  } else if (const auto* several = action_space_.get_if<spaces::multi_discrete>()) {
    first_ = several->start;
    for (std::size_t i = 0; i < first_.size(); ++i) end_.push_back(first_[i] + several->n[i]);
    width_ = first_.size();
  } else if (const auto* binary = action_space_.get_if<spaces::multi_binary>()) {
    width_ = static_cast<std::size_t>(binary->n);
    first_.assign(width_, 0);
    end_.assign(width_, 2);
  } else {
    throw std::invalid_argument(fmt::format(
        "{}: expected an action space of kind Box, Discrete, MultiDiscrete or MultiBinary, got {}",
        id_, to_string(action_space_)));
  }
}

void action_checker::check(env_actions& actions) const {
  const std::size_t given = is_box_ ? actions.continuous.size() : actions.discrete.size();
  if (given != count_ * width_)
    throw wrong_actions(fmt::format(
        "{}: expected {} {} numbers ({} environments, {} each, {}), got {} (and {} of the other "
        "kind)",
        id_, count_ * width_, is_box_ ? "continuous" : "discrete", count_, width_,
        to_string(action_space_), given,
        is_box_ ? actions.discrete.size() : actions.continuous.size()));
  if (is_box_)
    clip(actions.continuous);
  else
    check_integers(actions.discrete);
}

void action_checker::check_integers(std::span<const std::int64_t> integers) const {
  for (std::size_t i = 0; i < count_; ++i)
    for (std::size_t part = 0; part < width_; ++part) {
      const auto integer = integers[i * width_ + part];
      if (integer < first_[part] || integer >= end_[part])
        throw wrong_actions(fmt::format("{}: expected actions in {}, got {} for environment {}",
                                        id_, to_string(action_space_), integer, i));
    }
}

void action_checker::clip(std::span<float> floats) const {
  bool finite = true;
  for (const float each : floats) finite &= std::isfinite(each);
  if (!finite) [[unlikely]] {
    const auto bad =
        std::find_if(floats.begin(), floats.end(), [](float each) { return !std::isfinite(each); });
    throw wrong_actions(fmt::format("{}: expected finite actions, got {} for environment {}", id_,
                                    *bad, static_cast<std::size_t>(bad - floats.begin()) / width_));
  }
  for (std::size_t i = 0; i < floats.size(); ++i)
    floats[i] = std::clamp(floats[i], low_[i], high_[i]);
}

}  // namespace troupe::detail
