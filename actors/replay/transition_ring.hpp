#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "actors/policy/action_random.hpp"
#include "actors/replay/transition_rows.hpp"

namespace troupe {

class state_reader;
class state_writer;

struct transition_ring_options {
  std::int64_t capacity = 1'000'000;               ///< transitions; then the oldest go
  std::int64_t max_bytes = std::int64_t{4} << 30;  ///< that a full ring may take
};

/// The newest transitions, each column a ring. Memory is taken by blocks as they are needed, so a
/// capacity that is never reached costs nothing. For one actor.
class transition_ring {
 public:
  /// Throws std::invalid_argument for a capacity < 1, widths without obs or action, and if a full
  /// ring would take more than max_bytes, naming both.
  transition_ring(const transition_widths& widths, const transition_ring_options& options);

  /// Puts them in, in order, in place of the oldest where it is full. Throws std::invalid_argument
  /// if a column has another size than `widths` says.
  void insert(const transition_rows& rows);

  /// Draws `count` transitions uniformly, with replacement, into `into`, which allocates only if it
  /// never held as many. Throws std::logic_error if there are none.
  void sample(std::size_t count, action_random& random, transition_rows& into) const;

  /// The transitions at these places, into `into`. The n-th that was inserted, from 0, is at n
  /// modulo the capacity. REQUIRES: each place < size().
  void gather(std::span<const std::size_t> places, transition_rows& into) const;

  std::int64_t size() const noexcept { return size_; }
  std::int64_t inserted() const noexcept { return inserted_; }
  const transition_widths& widths() const noexcept { return widths_; }
  /// Of the blocks that are there.
  std::size_t bytes() const noexcept { return blocks_.size() * block_rows * widths_.bytes(); }

  /// Everything but the options.
  void save(state_writer& to) const;
  /// Continues where `save` was. Throws state_error if that was a ring of other widths or of
  /// another capacity.
  void restore(const state_reader& from);

 private:
  static constexpr std::size_t block_rows = 4096;

  /// block_rows of each column. Not vectors: memory that is not written to yet is not taken.
  struct block {
    explicit block(const transition_widths& widths);
    std::unique_ptr<float[]> obs, action, reward, next_obs, terminated, discount;
    std::unique_ptr<std::int64_t[]> choice;
  };

  void copy_row(std::size_t place, transition_rows& into, std::size_t row) const;

  transition_widths widths_;
  std::int64_t capacity_;
  std::int64_t size_ = 0;
  std::int64_t inserted_ = 0;  // so the next goes to inserted_ % capacity_
  std::vector<block> blocks_;
};

}  // namespace troupe
