#pragma once
// The surface on which environments draw pictures of themselves. This is only the interface, so
// environments link no graphics library; actors/video has a canvas that draws.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace troupe {

/// A picture that is being drawn. Coordinates are pixels: x grows to the right and y grows
/// downwards, from (0, 0) at the upper left corner. What lies outside of the picture is cut off.
class canvas {
 public:
  struct point {
    double x = 0, y = 0;
  };
  struct colour {
    std::uint8_t red = 0, green = 0, blue = 0;
    bool operator==(const colour&) const = default;
  };

  static constexpr int side_max = 4096;  ///< The largest width and height in pixels.

  virtual ~canvas() = default;

  /// Begins a picture of this size in one colour. Throws std::invalid_argument for a width or a
  /// height outside of 1 .. side_max. Every picture begins with this function or with `pixels`.
  virtual void begin(int width, int height, colour background) = 0;
  /// Begins a picture with these pixels, for environments that make their own pictures. `rgb` is
  /// [height, width, 3]: rows from the top, pixels from the left, and red, green and blue of each.
  /// Throws std::invalid_argument like `begin`, and for another number of bytes.
  virtual void pixels(int width, int height, std::span<const std::uint8_t> rgb) = 0;

  /// Draws a line with round ends.
  virtual void line(point from, point to, double width, colour ink) = 0;
  /// Fills the polygon with these corners.
  virtual void polygon(std::span<const point> corners, colour ink) = 0;
  /// Fills a circle.
  virtual void circle(point centre, double radius, colour ink) = 0;
  /// Writes one line of UTF-8 around `centre`. `size` is the height of the font.
  virtual void text(point centre, std::string_view words, double size, colour ink) = 0;

  /// Fills a rectangle, of which `corner` is the upper left corner.
  void rectangle(point corner, double width, double height, colour ink) {
    const double right = corner.x + width, bottom = corner.y + height;
    const std::array corners{corner, point{right, corner.y}, point{right, bottom},
                             point{corner.x, bottom}};
    polygon(corners, ink);
  }
};

}  // namespace troupe
