#pragma once
// Reads a GIF back, to compare it with what was drawn.

#include <filesystem>
#include <vector>

#include "actors/environments/canvas.hpp"

namespace troupe::testing {

/// A GIF as a viewer shows it: every picture with those before it below.
struct shown_gif {
  int width = 0, height = 0;
  std::vector<int> delays = {};                            ///< In hundredths of a second.
  std::vector<std::vector<canvas::colour>> pictures = {};  ///< Each [height, width].
  std::vector<std::size_t> stored = {};  ///< Pixels in the rectangle of each picture.
  bool repeats = false;                  ///< For ever.

  canvas::colour at(std::size_t picture, int x, int y) const {
    return pictures.at(picture).at(static_cast<std::size_t>(y * width + x));
  }
};

/// Throws std::runtime_error if it is no whole GIF.
shown_gif read_gif(const std::filesystem::path& path);

}  // namespace troupe::testing
