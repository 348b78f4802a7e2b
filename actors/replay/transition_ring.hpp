#pragma once
// A ring of transitions in columns, with the links between the steps of an episode.
// transition_replay uses it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "actors/random/action_random.hpp"
#include "actors/replay/image_rows.hpp"
#include "actors/replay/transition_rows.hpp"

namespace troupe {

class state_reader;
class state_writer;

struct transition_ring_options {
  /// The number of transitions that are held. Then the oldest are overwritten.
  std::int64_t capacity = 1'000'000;
  std::int64_t max_bytes = std::int64_t{4} << 30;  ///< The maximal size of a full ring in bytes.
  std::vector<image_part> images = {};  ///< The parts of observations that are kept as bytes.
};

/// The size of one transition in a ring, if each adds as many frames as its images say.
std::size_t transition_bytes(const transition_widths& widths,
                             const std::vector<image_part>& images);

/// The place of a row in its episode; see transition_rows.
struct row_place {
  std::uint32_t environment = 0;
  std::uint32_t step = 0;  ///< The step of the episode, from 0.
  episode_end end = episode_end::none;
  bool operator==(const row_place&) const = default;
};

/// The rows of one episode: those of the steps from first_step to first_step + numbers.size() - 1.
struct episode_rows {
  std::uint32_t environment = 0;
  /// Above 0 if the beginning of the episode is no longer held.
  std::uint32_t first_step = 0;
  std::vector<std::int64_t> numbers;    ///< The row of each of these steps, in order.
  episode_end end = episode_end::none;  ///< How the episode ended with the last of these steps.
};

/// The newest transitions, each column as a ring. A row is named by its number in the order of
/// arrival, 0, 1, ...; the newest `capacity` rows are held. Memory is allocated in blocks as they
/// are needed, so a capacity that is never reached costs nothing. Only one actor may use it.
///
/// Rows of one episode are linked if they follow one another step by step. A row can be missing or
/// arrive out of order, because collections can be lost or overtake each other. The rows before and
/// after it then count as two episodes.
///
/// Images are kept as bytes, and frames that several rows show are kept once (image_rows). How many
/// frames a number of transitions shows is not known beforehand: the last observation of an episode
/// is shown by one row, for example. If max_bytes has no room for another frame, the oldest rows
/// are dropped, and the ring then holds fewer rows than its capacity.
class transition_ring {
 public:
  /// Throws std::invalid_argument if the capacity is not within 1 .. 2^32 - 1, if `widths` has no
  /// obs or no action, if a full ring would take more than max_bytes, naming both sizes, and if an
  /// image does not lie within an observation.
  transition_ring(const transition_widths& widths, const transition_ring_options& options);

  /// Inserts the rows in order; they replace the oldest rows of a full ring. Throws
  /// std::invalid_argument if a column has another size than `widths` says, if `ended` has a value
  /// that is no episode_end, and if an image has a number that is no byte.
  void insert(const transition_rows& rows);

  /// Draws `count` transitions uniformly, with replacement, into `into`, which allocates only if it
  /// never held as many. Throws std::logic_error if the ring is empty.
  void sample(std::size_t count, action_random& random, transition_rows& into) const;

  /// Copies the transitions of these numbers into `into`. `numbers` may be a column of `into`.
  /// Throws std::out_of_range if a transition is not held.
  void gather(std::span<const std::int64_t> numbers, transition_rows& into) const;

  /// Returns the place of this row in its episode. Throws std::out_of_range if it is not held.
  row_place place_of(std::int64_t number) const;
  /// Returns the held rows of the episode that this row belongs to. Throws like place_of.
  episode_rows episode_of(std::int64_t number) const;
  /// Returns the rows of `length` successive steps, beginning with `number`. There are fewer if the
  /// episode ends earlier, or if the rows that follow are not held. Throws like place_of.
  std::vector<std::int64_t> sequence(std::int64_t number, std::size_t length) const;

  std::int64_t size() const noexcept { return size_; }
  /// The number of the oldest row that is held.
  std::int64_t oldest() const noexcept { return inserted_ - size_; }
  std::int64_t inserted() const noexcept { return inserted_; }
  const transition_widths& widths() const noexcept { return widths_; }
  /// The size in bytes of the allocated blocks.
  std::size_t bytes() const noexcept {
    return blocks_.size() * block_rows * kept_.bytes() + (images_ ? images_->bytes() : 0);
  }

  /// Saves everything except the options.
  void save(state_writer& to) const;
  /// Restores a state of `save`. Throws state_error if it is from a ring of other widths or another
  /// capacity, or if it links rows that do not follow one another; the ring is then unchanged.
  void restore(const state_reader& from);

 private:
  static constexpr std::size_t block_rows = 4096;

  /// Memory for block_rows rows of each column. These are no vectors, so that pages that were not
  /// written to yet take no memory.
  struct block {
    explicit block(const transition_widths& widths);
    std::unique_ptr<float[]> obs, action, reward, next_obs, terminated, discount;
    std::unique_ptr<float[]> agent_reward, agent_terminated;
    std::unique_ptr<std::int64_t[]> choice;
    std::unique_ptr<std::uint32_t[]> environment, step;
    std::unique_ptr<std::uint8_t[]> ended;
    /// The distances to the previous and the next row of the episode, in numbers of rows; 0 means
    /// none.
    std::unique_ptr<std::uint32_t[]> previous, next;
  };
  /// A row as its block and its index there.
  struct cell {
    const block& in;
    std::size_t at;
  };
  /// The newest row of an environment. Its episode is only needed until the next row of the
  /// environment arrives.
  struct newest_row {
    std::int64_t number = 0;
    std::uint32_t episode = 0;
  };

  bool holds(std::int64_t number) const noexcept;
  void require(std::int64_t number) const;
  /// Returns the cell of a row. REQUIRES: the row is held.
  cell cell_of(std::int64_t number) const;
  /// Throws std::invalid_argument if `insert` must refuse the rows.
  void check(const transition_rows& rows) const;
  /// Throws std::invalid_argument if a column has another size than these widths say.
  static void check_columns(const transition_widths& widths, const transition_rows& rows);
  /// The number of places that rows have been put to.
  std::int64_t places() const noexcept { return inserted_ < capacity_ ? inserted_ : capacity_; }
  std::size_t place_number(std::int64_t number) const noexcept {
    return static_cast<std::size_t>(number % capacity_);
  }
  /// Copies the rows from `first` on that fit into one block, without links. Returns their number.
  std::size_t put(const transition_rows& rows, std::size_t first);
  /// Copies columns of these widths of the rows from `first` on to a place and those after it, as
  /// many as fit into one block, and removes the links there. Returns their number.
  std::size_t put_columns(const transition_widths& widths, const transition_rows& rows,
                          std::size_t first, std::size_t place);
  /// Copies the observations of a row to its place, if they have images.
  void put_images(const transition_rows& rows, std::size_t row, std::size_t place);
  void copy_images(std::size_t place, transition_rows& into, std::size_t row) const;
  void drop_oldest();
  /// Returns true if `other` is the step after `one`, and `one` did not end the episode.
  static bool adjoin(const cell& one, const cell& other);
  /// Links two rows.
  void tie(std::int64_t one, std::int64_t other);
  /// Links the newest row to the one before it if both are of one episode.
  void link(std::int64_t number, std::uint32_t episode);
  /// Removes the links to a row that is about to be overwritten.
  void forget(std::int64_t number);
  /// Restores the columns and the number of the held rows from rows of `kept_`.
  void restore_rows(const state_reader& from, const transition_rows& rows, std::int64_t inserted);
  /// Restores the links of the rows.
  void restore_links(const state_reader& from);
  void copy_row(std::size_t place, transition_rows& into, std::size_t row) const;

  transition_widths widths_;
  transition_widths kept_;  // those of the blocks, without the floats of images
  // The columns that are copied as they are: all, or with images all but observations.
  transition_widths plain_;
  transition_ring_options options_;
  std::int64_t capacity_;
  std::optional<image_rows> images_;
  std::int64_t size_ = 0;
  std::int64_t inserted_ = 0;  // The next row goes to inserted_ % capacity_.
  std::vector<block> blocks_;
  std::map<std::uint32_t, newest_row> newest_;  // The newest held row of each environment.
};

}  // namespace troupe
