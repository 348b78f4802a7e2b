#pragma once
// A canvas that draws into memory with cairo.

#include <cstdint>
#include <vector>

#include "actors/environments/canvas.hpp"

struct _cairo;
struct _cairo_surface;

namespace troupe {

class cairo_canvas final : public canvas {
 public:
  cairo_canvas() = default;
  ~cairo_canvas() override;
  cairo_canvas(const cairo_canvas&) = delete;
  cairo_canvas& operator=(const cairo_canvas&) = delete;

  // All functions throw std::runtime_error if cairo fails, and std::logic_error before the first
  // picture.

  void begin(int width, int height, colour background) override;
  void pixels(int width, int height, std::span<const std::uint8_t> rgb) override;
  void line(point from, point to, double width, colour ink) override;
  void polygon(std::span<const point> corners, colour ink) override;
  void circle(point centre, double radius, colour ink) override;
  void text(point centre, std::string_view words, double size, colour ink) override;

  int width() const { return width_; }    ///< In pixels; 0 before the first picture.
  int height() const { return height_; }  ///< In pixels; 0 before the first picture.
  /// Returns the colour of a pixel. Throws std::out_of_range outside of the picture.
  colour at(int x, int y) const;
  /// Returns the picture as [height, width, 3] bytes. A picture of another size is scaled to fit
  /// without distortion and centred on black.
  std::vector<std::uint8_t> rgb(int width, int height) const;

 private:
  /// Makes a surface of this size, unless there is one.
  void resize(int width, int height);
  /// Returns the drawing context with this ink.
  _cairo* with_ink(colour ink);

  int width_ = 0, height_ = 0;
  _cairo_surface* surface_ = nullptr;
  _cairo* cairo_ = nullptr;
};

}  // namespace troupe
