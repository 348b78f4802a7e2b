#pragma once
// The choice of few colours for a picture of many, as GIF needs it.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "actors/environments/canvas.hpp"

namespace troupe {

/// The colours that stand for those of some pixels, chosen by median cut: Heckbert 1982, "Color
/// image quantization for frame buffer display". Colours whose red, green and blue agree in their
/// upper five bits are taken for one; flat colours keep their exact value, unless pixels of a
/// nearly equal colour shift it.
class colour_palette {
 public:
  /// Chooses at most `colours_max` colours (1 to 256) for the given pixels.
  colour_palette(std::span<const canvas::colour> pixels, std::size_t colours_max);

  const std::vector<canvas::colour>& colours() const { return colours_; }
  /// Returns the index in `colours` of the colour that stands for `of`, one of the pixels.
  std::uint8_t index_of(canvas::colour of) const { return index_[bin_of(of)]; }

 private:
  static constexpr int bits = 5;
  static std::size_t bin_of(canvas::colour of) {
    const auto upper = [](std::uint8_t value) { return std::size_t{value} >> (8 - bits); };
    return upper(of.red) << (2 * bits) | upper(of.green) << bits | upper(of.blue);
  }

  std::vector<canvas::colour> colours_;
  std::vector<std::uint8_t> index_;  // [2^(3 * bits)] the index in colours_ of each bin
};

}  // namespace troupe
