#include "actors/replay/prioritised_selector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace troupe {
namespace {

// As many of these as memory can hold still have a finite sum.
constexpr double max_weight = 1e280;

}  // namespace

prioritised_selector::prioritised_selector(double exponent, std::uint64_t seed)
    : selector(seed), exponent_(exponent) {
  if (!(exponent >= 0 && std::isfinite(exponent))) {
    throw std::invalid_argument(fmt::format(
        "prioritised selector: exponent: expected a finite number >= 0, got {}", exponent));
  }
}

void prioritised_selector::do_insert(std::uint64_t key, double priority) {
  const auto place = keys_.size();
  keys_.add(key);
  weights_.set(place, weight_of(priority));
}

void prioritised_selector::do_update(std::uint64_t key, double priority) {
  weights_.set(keys_.place(key), weight_of(priority));
}

void prioritised_selector::erase(std::uint64_t key) {
  const auto freed = keys_.erase(key);
  const auto last = keys_.size();
  weights_.set(freed, weights_.weight(last));
  weights_.set(last, 0);
}

selector::selection prioritised_selector::do_select() {
  const auto total = weights_.total();
  if (total == 0) {
    const auto place = static_cast<std::size_t>(random_->below(keys_.size()));
    return {keys_.at(place), 1.0 / static_cast<double>(keys_.size())};
  }
  const auto place = weights_.find(random_->uniform() * total);
  return {keys_.at(place), weights_.weight(place) / total};
}

double prioritised_selector::weight_of(double priority) const {
  return priority == 0 ? 0 : std::min(std::pow(priority, exponent_), max_weight);
}

}  // namespace troupe
