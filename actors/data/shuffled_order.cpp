#include "actors/data/shuffled_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "actors/checkpoint/state.hpp"

namespace troupe::detail {

shuffled_order::shuffled_order(std::size_t items, bool shuffle, std::uint64_t seed)
    : items_(items), shuffle_(shuffle), random_(seed), random_at_begin_(random_.state()) {
  if (items == 0) throw std::invalid_argument("dataset: expected at least one item, got none");
  if (items > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument("dataset: expected less than 2^32 items, got " +
                                std::to_string(items));
  begin_epoch();
}

std::size_t shuffled_order::next() {
  const std::size_t item = shuffle_ ? order_[position_] : position_;
  if (++position_ == items_) {
    ++epoch_;
    begin_epoch();
  }
  return item;
}

void shuffled_order::begin_epoch() {
  position_ = 0;
  if (!shuffle_) return;
  random_at_begin_ = random_.state();
  // The shuffle starts from the same order each time, so that the generator's state alone
  // determines an epoch.
  order_.resize(items_);
  std::iota(order_.begin(), order_.end(), 0U);
  for (std::size_t left = items_; left > 1; --left) {
    std::swap(order_[left - 1], order_[random_.below(left)]);
  }
}

void shuffled_order::set_state(const order_state& state) {
  if (state.items != items_)
    throw state_error("dataset: expected a cursor over " + std::to_string(items_) +
                      " items, got one over " + std::to_string(state.items));
  if (state.shuffled != shuffle_)
    throw state_error(
        std::string("dataset: expected the cursor of a dataset that is ") +
        (shuffle_ ? "shuffled, got one that is not" : "not shuffled, got one that is"));
  if (state.position >= items_ || state.epoch < 0)
    throw state_error("dataset: expected a cursor at 0 to " + std::to_string(items_ - 1) +
                      ", got " + std::to_string(state.position));
  random_at_begin_ = state.random;
  random_.set_state(random_at_begin_);
  begin_epoch();
  epoch_ = state.epoch;
  position_ = state.position;
}

}  // namespace troupe::detail
