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
  // From the same order each time, so that the generator's state is all there is to an epoch.
  order_.resize(items_);
  std::iota(order_.begin(), order_.end(), 0U);
  for (std::size_t left = items_; left > 1; --left) {
    std::swap(order_[left - 1], order_[random_.below(left)]);
  }
}

void shuffled_order::save(state_writer& to) const {
  to.put("items", static_cast<std::uint64_t>(items_));
  to.put("shuffled", shuffle_);
  to.put("epoch", epoch_);
  to.put("position", static_cast<std::uint64_t>(position_));
  to.put("random", std::vector<std::uint64_t>(random_at_begin_.begin(), random_at_begin_.end()));
}

void shuffled_order::restore(const state_reader& from) {
  const auto items = from.get<std::uint64_t>("items");
  const auto position = from.get<std::uint64_t>("position");
  const auto epoch = from.get<std::int64_t>("epoch");
  const auto words = from.get<std::vector<std::uint64_t>>("random");
  if (items != items_)
    throw state_error("dataset: expected a cursor over " + std::to_string(items_) +
                      " items, got one over " + std::to_string(items));
  if (from.get<bool>("shuffled") != shuffle_)
    throw state_error(
        std::string("dataset: expected the cursor of a dataset that is ") +
        (shuffle_ ? "shuffled, got one that is not" : "not shuffled, got one that is"));
  if (position >= items || epoch < 0 || words.size() != random_at_begin_.size())
    throw state_error("dataset: expected a cursor at 0 to " + std::to_string(items - 1) +
                      " with 4 words of a generator, got " + std::to_string(position) + " with " +
                      std::to_string(words.size()));
  std::copy(words.begin(), words.end(), random_at_begin_.begin());
  random_.set_state(random_at_begin_);
  begin_epoch();
  epoch_ = epoch;
  position_ = position;
}

}  // namespace troupe::detail
