#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "actors/random/action_random.hpp"
#include "actors/replay/transition_rows.hpp"

namespace troupe {

class state_reader;
class state_writer;

struct transition_ring_options {
  std::int64_t capacity = 1'000'000;               ///< transitions; then the oldest go
  std::int64_t max_bytes = std::int64_t{4} << 30;  ///< that a full ring may take
};

/// Where a row lies: see transition_rows.
struct row_place {
  std::uint32_t environment = 0;
  std::uint32_t step = 0;  ///< Of its episode.
  episode_end end = episode_end::none;
  bool operator==(const row_place&) const = default;
};

/// The rows of one episode, of steps first_step to first_step + numbers.size(), that one excluded.
struct episode_rows {
  std::uint32_t environment = 0;
  std::uint32_t first_step = 0;         ///< Above 0 where the beginning is no longer held.
  std::vector<std::int64_t> numbers;    ///< A row for each of these steps, in their order.
  episode_end end = episode_end::none;  ///< How the episode ended with the last of them.
};

/// The newest transitions, each column a ring. A row is named by its number in the order of
/// arrival, 0, 1, ...; the newest `capacity` are held. Memory is taken by blocks as they are
/// needed, so a capacity that is never reached costs nothing. For one actor.
///
/// Rows of one episode are linked where they follow one another step by step. Where a row is
/// missing or came out of turn, as collections can be lost or overtake each other, what is before
/// and what is after it count as two episodes.
class transition_ring {
 public:
  /// Throws std::invalid_argument for a capacity that is not within 1 .. 2^32 - 1, widths without
  /// obs or action, and if a full ring would take more than max_bytes, naming both.
  transition_ring(const transition_widths& widths, const transition_ring_options& options);

  /// Puts them in, in order, in place of the oldest where it is full. Throws std::invalid_argument
  /// if a column has another size than `widths` says, or `ended` a value that is no episode_end.
  void insert(const transition_rows& rows);

  /// Draws `count` transitions uniformly, with replacement, into `into`, which allocates only if it
  /// never held as many. Throws std::logic_error if there are none.
  void sample(std::size_t count, action_random& random, transition_rows& into) const;

  /// The transitions of these numbers, into `into`, one of whose columns they may be. Throws
  /// std::out_of_range for one that is not held.
  void gather(std::span<const std::int64_t> numbers, transition_rows& into) const;

  /// Where this row lies. Throws std::out_of_range if it is not held.
  row_place place_of(std::int64_t number) const;
  /// What is held of the episode that this row belongs to. Throws as place_of.
  episode_rows episode_of(std::int64_t number) const;
  /// The rows of `length` steps one after another, the first of them `number`: fewer where the
  /// episode ends before, or what follows is not held. Throws as place_of.
  std::vector<std::int64_t> sequence(std::int64_t number, std::size_t length) const;

  std::int64_t size() const noexcept { return size_; }
  std::int64_t inserted() const noexcept { return inserted_; }
  const transition_widths& widths() const noexcept { return widths_; }
  /// Of the blocks that are there.
  std::size_t bytes() const noexcept { return blocks_.size() * block_rows * widths_.bytes(); }

  /// Everything but the options.
  void save(state_writer& to) const;
  /// Continues where `save` was. Throws state_error if that was a ring of other widths or of
  /// another capacity, or if rows are linked that do not follow one another; then changes nothing.
  void restore(const state_reader& from);

 private:
  static constexpr std::size_t block_rows = 4096;

  /// block_rows of each column. Not vectors: memory that is not written to yet is not taken.
  struct block {
    explicit block(const transition_widths& widths);
    std::unique_ptr<float[]> obs, action, reward, next_obs, terminated, discount;
    std::unique_ptr<std::int64_t[]> choice;
    std::unique_ptr<std::uint32_t[]> environment, step;
    std::unique_ptr<std::uint8_t[]> ended;
    /// How many rows before and after it the row before and after it in its episode came; 0: none.
    std::unique_ptr<std::uint32_t[]> previous, next;
  };
  /// A row in its block.
  struct cell {
    const block& in;
    std::size_t at;
  };
  /// The newest row of an environment. Its episode is needed no longer than until the next comes.
  struct newest_row {
    std::int64_t number = 0;
    std::uint32_t episode = 0;
  };

  bool holds(std::int64_t number) const noexcept;
  void require(std::int64_t number) const;
  /// REQUIRES: it is held.
  cell cell_of(std::int64_t number) const;
  /// Throws std::invalid_argument, as insert.
  void check(const transition_rows& rows) const;
  /// Puts in the rows from `first` on that lie in one block, linked to none; returns how many.
  std::size_t put(const transition_rows& rows, std::size_t first);
  /// Whether the second is of the step after the first's, which did not end the episode.
  static bool adjoin(const cell& one, const cell& other);
  /// Links two rows.
  void tie(std::int64_t one, std::int64_t other);
  /// Links the newest row to the one before it, where both are of one episode.
  void link(std::int64_t number, std::uint32_t episode);
  /// The row is about to be overwritten.
  void forget(std::int64_t number);
  /// Links the rows as they were saved.
  void restore_links(const state_reader& from);
  void copy_row(std::size_t place, transition_rows& into, std::size_t row) const;

  transition_widths widths_;
  std::int64_t capacity_;
  std::int64_t size_ = 0;
  std::int64_t inserted_ = 0;  // so the next goes to inserted_ % capacity_
  std::vector<block> blocks_;
  std::map<std::uint32_t, newest_row> newest_;  // by environment, of the rows that are held
};

}  // namespace troupe
