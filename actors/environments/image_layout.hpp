#pragma once
// Which boxes are images, and where their channels, rows and columns lie.

#include <cstdint>
#include <optional>
#include <string>

#include "actors/environments/space.hpp"

namespace troupe {

/// What a check and a run say of a box that may look like an image and is none.
inline constexpr const char* no_image_text =
    "bytes with bounds 0 and 255 for an image; policy.kind=auto takes others, such as a board, as "
    "plain numbers";

/// True for bytes 0 .. 255 with two dimensions or more. Bytes with other bounds, such as a board,
/// are plain numbers, and so are floats.
bool is_image(const spaces::box& of);

/// The layout of a box as an image. All dimensions that are not height and width, such as frames,
/// count as channels.
struct image_layout {
  std::int64_t channels = 0, height = 0, width = 0;
  /// The number of channels whose numbers of one pixel lie side by side, as in [height, width,
  /// channels]; 0 if each channel is a plane of its own.
  std::int64_t interleaved = 0;
  float high = 255;  ///< The largest absolute value of its bounds; 1 if it is 0 or not finite.
};

/// Returns the layout, which the last three dimensions decide. Two neighbours of one size are the
/// height and the width; otherwise the smallest of the three is that of the channels, as
/// Stable-Baselines3 decides. Returns nullopt for a box of fewer than two dimensions, and for an
/// empty one.
std::optional<image_layout> image_layout_of(const spaces::box& of);

/// Returns a box without lists of bounds, for messages: `Box(uint8, (8, 8, 12), from 0 to 1)`.
std::string to_short_string(const spaces::box& of);

}  // namespace troupe
