#pragma once
// The order in which datasets give their items.

#include <cstdint>
#include <string>
#include <vector>

#include "actors/random/action_random.hpp"

namespace troupe {

namespace detail {

/// The position of a shuffled_order, for checkpoints.
struct order_state {
  std::uint64_t items = 0;
  bool shuffled = false;
  std::int64_t epoch = 0;
  std::uint64_t position = 0;
  action_random::state_type random{};  ///< The generator's state before this epoch was shuffled.
};

/// Goes through the items 0 .. n - 1 epoch after epoch, each item once per epoch. The order is
/// shuffled anew for each epoch (Fisher and Yates), or is always 0 .. n - 1.
class shuffled_order {
 public:
  shuffled_order(std::size_t items, bool shuffle, std::uint64_t seed);

  /// Returns the next item. After the last item, another epoch begins.
  std::size_t next();
  std::size_t items() const { return items_; }
  std::int64_t epoch() const { return epoch_; }  ///< The epoch of the next item, from 0.
  std::size_t position() const { return position_; }

  order_state state() const { return {items_, shuffle_, epoch_, position_, random_at_begin_}; }
  /// Throws state_error naming both numbers if the state is for another number of items.
  void set_state(const order_state& state);

 private:
  void begin_epoch();

  std::size_t items_;
  bool shuffle_;
  action_random random_;  // The generator for the epochs after this one.
  // The generator's state before this epoch was shuffled.
  action_random::state_type random_at_begin_;
  std::vector<std::uint32_t> order_;  // [items_], empty if it is not shuffled.
  std::int64_t epoch_ = 0;
  std::size_t position_ = 0;
};

}  // namespace detail
}  // namespace troupe
