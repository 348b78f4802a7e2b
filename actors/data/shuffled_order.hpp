#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/random/action_random.hpp"

namespace troupe {

namespace detail {

/// Where in which epoch an order is.
struct order_state {
  std::uint64_t items = 0;
  bool shuffled = false;
  std::int64_t epoch = 0;
  std::uint64_t position = 0;
  action_random::state_type random{};  ///< What this epoch was shuffled with.
};

/// The order in which the items 0 .. n - 1 are gone through, epoch after epoch, each item once an
/// epoch. Shuffled anew each epoch (Fisher and Yates), or always as they stand.
class shuffled_order {
 public:
  shuffled_order(std::size_t items, bool shuffle, std::uint64_t seed);

  /// The next item; after the last one another epoch begins.
  std::size_t next();
  std::size_t items() const { return items_; }
  std::int64_t epoch() const { return epoch_; }  ///< of the next item, from 0
  std::size_t position() const { return position_; }

  order_state state() const { return {items_, shuffle_, epoch_, position_, random_at_begin_}; }
  /// Throws state_error, naming both numbers, for the state of another number of items.
  void set_state(const order_state& state);

 private:
  void begin_epoch();

  std::size_t items_;
  bool shuffle_;
  action_random random_;                       // of the epochs after this one
  action_random::state_type random_at_begin_;  // what this epoch was shuffled with
  std::vector<std::uint32_t> order_;           // [items_], empty if not shuffled
  std::int64_t epoch_ = 0;
  std::size_t position_ = 0;
};

}  // namespace detail
}  // namespace troupe
