#include "algorithms/learner/reward_scaling.hpp"

#include <cmath>
#include <stdexcept>

namespace troupe {

void describe(enum_schema<reward_scaling>& s) {
  s.name("none", reward_scaling::none)
      .name("center", reward_scaling::center)
      .name("scale", reward_scaling::scale)
      .name("standardize", reward_scaling::standardize);
}

namespace detail {

reward_scale::reward_scale(reward_scaling how, std::size_t columns) : how_(how) {
  // Like running_normalizer: before the first rewards the mean is 0 and the variance 1.
  constexpr double weight_of_the_first = 1e-4;
  if (is_wanted()) moments_.assign(columns, running_moments::unit(1, weight_of_the_first));
}

void reward_scale::add(std::size_t column, std::span<const float> rewards) {
  finite_.clear();
  for (const float reward : rewards) {
    if (std::isfinite(reward)) finite_.push_back(reward);
  }
  if (!finite_.empty()) moments_[column].add(std::span<const float>(finite_));
}

float reward_scale::apply(std::size_t column, float reward) const {
  if (!is_wanted()) return reward;
  constexpr double epsilon = 1e-8;
  const auto& of = moments_[column];
  const double shift = how_ == reward_scaling::scale ? 0.0 : of.mean()[0];
  const double scale = how_ == reward_scaling::center ? 1.0 : std::sqrt(of.variance()[0] + epsilon);
  return static_cast<float>((reward - shift) / scale);
}

void reward_scale::restore(const char* name, const state& saved) {
  bool fits = saved.size() == moments_.size();
  for (const auto& each : saved) fits = fits && each.width() == 1;
  if (!fits) {
    throw std::invalid_argument(std::string(name) + ": expected statistics of " +
                                std::to_string(moments_.size()) + " rewards, got those of " +
                                std::to_string(saved.size()));
  }
  moments_ = saved;
}

}  // namespace detail
}  // namespace troupe
