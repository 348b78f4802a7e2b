#include "actors/replay/transition_priorities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "actors/checkpoint/state.hpp"

namespace troupe {
namespace {

// A larger weight could make the sum infinite.
constexpr double max_weight = 1e280;

const priority_options& checked(const priority_options& options) {
  const auto expect = [](bool good, const char* name, double value, const char* expected) {
    if (good) return;
    throw std::invalid_argument(
        fmt::format("prioritised replay: {}: expected {}, got {}", name, expected, value));
  };
  const auto share = [](double x) { return x >= 0 && x <= 1; };
  expect(options.alpha >= 0 && std::isfinite(options.alpha), "alpha", options.alpha,
         "a finite number >= 0");
  expect(share(options.beta), "beta", options.beta, "a number from 0 to 1");
  expect(share(options.beta_end), "beta_end", options.beta_end, "a number from 0 to 1");
  expect(options.eps > 0 && std::isfinite(options.eps), "eps", options.eps, "a number > 0");
  return options;
}

}  // namespace

std::vector<double> importance_weights(std::span<const double> probabilities, std::int64_t size,
                                       double beta) {
  if (!(beta >= 0 && beta <= 1)) {
    throw std::invalid_argument(
        fmt::format("importance_weights: beta: expected a number within 0 .. 1, got {}", beta));
  }
  std::vector<double> weights;
  weights.reserve(probabilities.size());
  double largest = -std::numeric_limits<double>::infinity();
  for (const auto probability : probabilities) {
    if (!(probability > 0 && size > 0)) {
      throw std::invalid_argument(
          fmt::format("importance_weights: expected a probability and a size > 0, got {} and {}",
                      probability, size));
    }
    // The weights are computed as logarithms, because the weight of a very small probability
    // overflows a double.
    weights.push_back(-beta * (std::log(static_cast<double>(size)) + std::log(probability)));
    largest = std::max(largest, weights.back());
  }
  for (auto& weight : weights) weight = std::exp(weight - largest);
  return weights;
}

transition_priorities::transition_priorities(const priority_options& options, std::int64_t capacity)
    : options_(checked(options)), capacity_(capacity) {}

std::int64_t transition_priorities::size() const noexcept { return inserted_ - first_; }

bool transition_priorities::holds(std::int64_t number) const noexcept {
  return number >= first_ && number < inserted_;
}

std::size_t transition_priorities::place(std::int64_t number) const noexcept {
  return static_cast<std::size_t>(number % capacity_);
}

double transition_priorities::priority_weight(std::int64_t number) const {
  return holds(number) ? weights_.weight(place(number)) : 0;
}

void transition_priorities::insert(std::int64_t count) {
  const auto weight = std::min(std::pow(highest_, options_.alpha), max_weight);
  for (std::int64_t i = 0; i < count; ++i) weights_.set(place(inserted_++), weight);
  first_ = std::max(first_, inserted_ - capacity_);
}

void transition_priorities::drop_before(std::int64_t number) {
  while (first_ < std::min(number, inserted_)) weights_.set(place(first_++), 0);
}

void transition_priorities::draw(std::size_t count, double progress_remaining,
                                 action_random& random, std::vector<std::int64_t>& numbers,
                                 std::vector<float>& weights) {
  const double total = weights_.total();
  const auto part = total / static_cast<double>(count);
  const auto newest = inserted_ - 1;
  numbers.resize(count);
  probabilities_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = weights_.find((static_cast<double>(i) + random.uniform()) * part);
    const auto behind = (place(newest) + static_cast<std::size_t>(capacity_) - at) %
                        static_cast<std::size_t>(capacity_);
    numbers[i] = newest - static_cast<std::int64_t>(behind);
    probabilities_[i] = weights_.weight(at) / total;
  }
  const double beta = options_.beta_end + (options_.beta - options_.beta_end) * progress_remaining;
  const auto exact = importance_weights(probabilities_, size(), beta);
  weights.assign(exact.begin(), exact.end());
}

void transition_priorities::update(std::span<const std::int64_t> numbers,
                                   std::span<const float> td_errors) {
  if (numbers.size() != td_errors.size()) {
    throw std::invalid_argument(
        fmt::format("prioritised replay: expected a TD error for each of {} transitions, got {}",
                    numbers.size(), td_errors.size()));
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double priority = std::abs(static_cast<double>(td_errors[i])) + options_.eps;
    if (!holds(numbers[i]) || !std::isfinite(priority)) continue;
    highest_ = std::max(highest_, priority);
    weights_.set(place(numbers[i]), std::min(std::pow(priority, options_.alpha), max_weight));
  }
}

void transition_priorities::save(state_writer& to) const {
  std::vector<double> weights;
  for (std::int64_t i = 0; i < std::min(inserted_, capacity_); ++i) {
    weights.push_back(weights_.weight(static_cast<std::size_t>(i)));
  }
  to.put("priorities_inserted", inserted_);
  to.put("priorities_highest", highest_);
  to.put("priorities", weights);
}

void transition_priorities::restore(const state_reader& from) {
  const auto weights = from.get<std::vector<double>>("priorities");
  from.get("priorities_inserted", inserted_);
  from.get("priorities_highest", highest_);
  first_ = std::max<std::int64_t>(0, inserted_ - capacity_);
  if (std::cmp_not_equal(weights.size(), size())) {
    throw state_error(fmt::format("saved priorities: expected {} of a capacity of {}, got {}",
                                  size(), capacity_, weights.size()));
  }
  weights_ = {};
  for (std::size_t i = 0; i < weights.size(); ++i) weights_.set(i, weights[i]);
}

}  // namespace troupe
