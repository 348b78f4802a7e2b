#pragma once
// The images of the rows of a transition_ring, as bytes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "actors/replay/frame_pool.hpp"
#include "actors/replay/image_part.hpp"

namespace troupe {

class state_reader;
class state_writer;

/// The images of observations and of next observations by the places of rows. A row has the names
/// of its frames, and a frame that several rows show is kept once: the next observation of a step
/// is the observation of the step after it, and two stacks of frames differ in one frame.
class image_rows {
 public:
  /// `width` is D, the number of floats of an observation, and `transitions` the number of
  /// transitions that there is room for, of image_part::fresh frames each. Throws
  /// std::invalid_argument if that is too small for one row that shares no frame.
  image_rows(std::vector<image_part> parts, std::size_t width, std::size_t transitions);

  /// Throws std::invalid_argument, which names the column, if an image of these rows [N, D] has a
  /// number that is no byte.
  void check(const char* column, std::span<const float> rows) const;

  /// Keeps the images of the observation [D] and of the next one as the row at this place. Returns
  /// false, and keeps nothing, if there is no room. REQUIRES: there is no row at this place, and
  /// `check` accepts both.
  bool put(std::size_t place, const float* obs, const float* next_obs);
  /// Forgets the row at this place, if there is one.
  void drop(std::size_t place);
  /// Writes the images of the row at this place to an observation [D] and a next one.
  void copy(std::size_t place, float* obs, float* next_obs) const;

  /// The runs of floats that are in no image, as the index of the first and the number of floats.
  const std::vector<std::pair<std::size_t, std::size_t>>& others() const { return others_; }
  std::size_t bytes() const noexcept;  ///< The size in bytes of the allocated memory.

  /// The bytes of a row's names of frames.
  static std::size_t bytes_of_names(const std::vector<image_part>& parts);
  /// The bytes of the frames that a transition is expected to add.
  static std::size_t bytes_of_frames(const std::vector<image_part>& parts);

  /// Saves the rows of the places before `end`.
  void save(state_writer& to, std::size_t end) const;
  /// Restores a state of `save` into an object without rows. Rows are expected at the places for
  /// which has_row(place) is true. Throws state_error.
  template <class HasRow>
  void restore(const state_reader& from, std::size_t end, const HasRow& has_row) {
    restore_names(from, end);
    for (std::size_t place = 0; place < end; ++place) require_row(place, has_row(place));
  }

 private:
  using frame_id = frame_pool::frame_id;

  frame_id* names_of(std::size_t place) const {
    return blocks_[place / block_rows].get() + place % block_rows * names_;
  }
  void allocate(std::size_t place);
  bool put_image(const image_part& part, frame_pool& pool, const float* obs, frame_id* names);
  void restore_names(const state_reader& from, std::size_t end);
  void require_row(std::size_t place, bool expected) const;

  static constexpr std::size_t block_rows = 4096;

  std::vector<image_part> parts_;
  std::size_t width_;
  std::size_t names_ = 0;          ///< The number of names of a row.
  std::vector<frame_pool> pools_;  ///< One of each part.
  std::vector<std::pair<std::size_t, std::size_t>> others_;
  std::vector<std::unique_ptr<frame_id[]>> blocks_;  ///< The names of the rows.
  std::vector<std::uint8_t> frame_;                  ///< The frame that is being kept.
};

}  // namespace troupe
