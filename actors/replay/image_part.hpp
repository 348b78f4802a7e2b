#pragma once
// The images of bytes among the numbers of an observation. A replay keeps them as bytes.

#include <cstddef>
#include <vector>

#include "actors/environments/space.hpp"

namespace troupe {

/// A part of a flattened observation whose numbers are whole, from 0 to 255. It consists of frames
/// of equal size, which a replay keeps separately: those of a stack of frames, or the channels of a
/// picture.
struct image_part {
  std::size_t begin = 0;   ///< The index of its first number in the observation.
  std::size_t size = 0;    ///< The number of its numbers, a multiple of `frames`.
  std::size_t frames = 1;  ///< The number of its frames.
  /// The number of frames that a step of an environment adds: 1 for a stack of pictures with one
  /// channel. It is an estimate, by which a capacity is judged.
  std::size_t fresh = 1;
  /// True if frame f has the numbers f, f + frames, ... of the part, as channels do that are the
  /// last dimension. Otherwise frames lie one after the other.
  bool interleaved = false;

  std::size_t frame_size() const { return size / frames; }
  bool operator==(const image_part&) const = default;
};

/// Returns the parts of these observations that are a Box of bytes with 64 numbers or more, also
/// those within a Dict or a Tuple, in order.
///
/// Of a Box with three dimensions, the channels are the frames: the last dimension if it is smaller
/// than the others, else the first. If their number is a multiple of 3, a step is expected to add
/// three of them, because they may be colours. A Box with three channels in its last dimension is
/// one frame. The first dimension of a Box with more dimensions is that of the frames.
std::vector<image_part> images_of(const space& observations);

}  // namespace troupe
