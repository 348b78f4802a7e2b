#include "actors/environments/action_checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "actors/environments/action_numbers.hpp"

namespace troupe::detail {

namespace {

action_numbers numbers_for(const env_spec& spec) {
  try {
    return numbers_of(spec.action_space);
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument(fmt::format(
        "{}: expected an action space of kind Box, Discrete, MultiDiscrete or MultiBinary, or a "
        "Tuple or Dict of these, got {}",
        spec.id, to_string(spec.action_space)));
  }
}

}  // namespace

action_checker::action_checker(const env_spec& spec, std::size_t count)
    : id_(spec.id), action_space_(spec.action_space), count_(count) {
  const auto one = numbers_for(spec);
  integers_ = one.integers.size();
  floats_ = one.low.size();
  for (const auto& [first, values, binary] : one.integers) {
    first_.push_back(first);
    end_.push_back(first + values);
  }
  for (std::size_t i = 0; i < count; ++i) {
    low_.insert(low_.end(), one.low.begin(), one.low.end());
    high_.insert(high_.end(), one.high.begin(), one.high.end());
  }
}

void action_checker::check_count(std::size_t given, std::size_t width, const char* kind,
                                 std::size_t other) const {
  if (given == count_ * width) return;
  throw wrong_actions(fmt::format(
      "{}: expected {} {} numbers ({} environments, {} each, {}), got {} (and {} of the other "
      "kind)",
      id_, count_ * width, kind, count_, width, to_string(action_space_), given, other));
}

void action_checker::check(env_actions& actions) const {
  const auto integers = actions.discrete.size(), floats = actions.continuous.size();
  // Numbers of a kind that the space doesn't have are left alone.
  if (floats_ > 0 || integers_ == 0) {
    check_count(floats, floats_, "continuous", integers);
    clip(actions.continuous);
  }
  if (integers_ > 0) {
    check_count(integers, integers_, "discrete", floats);
    check_integers(actions.discrete);
  }
}

void action_checker::check_integers(std::span<const std::int64_t> integers) const {
  for (std::size_t i = 0; i < count_; ++i)
    for (std::size_t part = 0; part < integers_; ++part) {
      const auto integer = integers[i * integers_ + part];
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
                                    *bad,
                                    static_cast<std::size_t>(bad - floats.begin()) / floats_));
  }
  for (std::size_t i = 0; i < floats.size(); ++i)
    floats[i] = std::clamp(floats[i], low_[i], high_[i]);
}

}  // namespace troupe::detail
