#pragma once
// Drawing on a bitmap with cairo. Only learning_curve.cpp uses it.

#include <string>
#include <vector>

#include "actors/recorder/axis_ticks.hpp"
#include "actors/recorder/learning_curve.hpp"

struct _cairo;
struct _cairo_surface;

namespace troupe::detail {

struct colour {
  double red, green, blue;
  double alpha = 1;
};

/// A white picture with margins for text and a plot area, in which data is drawn and clipped.
class curve_canvas {
 public:
  static constexpr int width = 900;
  static constexpr int height = 520;
  static constexpr double left = 78, right = 868, top = 84, bottom = 456;  ///< The plot area.

  enum class align { left, centre, right };

  /// The arguments are the ranges of the plot area in data coordinates.
  curve_canvas(double x_low, double x_high, double y_low, double y_high);
  ~curve_canvas();
  curve_canvas(const curve_canvas&) = delete;
  curve_canvas& operator=(const curve_canvas&) = delete;

  double x(double step) const {
    return left + (right - left) * (step - x_low_) / (x_high_ - x_low_);
  }
  double y(double value) const {
    return bottom - (bottom - top) * (value - y_low_) / (y_high_ - y_low_);
  }

  // The coordinates of these functions are in pixels.
  void text(double x, double y, const std::string& text, double size, colour ink,
            align aligned = align::left, bool bold = false);
  void text_upwards(double x, double y, const std::string& text, double size, colour ink);
  double text_width(const std::string& text, double size, bool bold = false);
  void segment(double x1, double y1, double x2, double y2, double line_width, colour ink,
               bool dashed = false);
  void box(double x, double y, double width, double height, colour ink);
  /// Draws a disc, with a white rim if `rim` > 0, so that it stands out from a line below it.
  void disc(double x, double y, double radius, colour ink, double rim = 0);

  // These functions take data coordinates and clip to the plot area.
  void line(const std::vector<curve_point>& points, double line_width, colour ink);
  void band(const std::vector<curve_point>& low, const std::vector<curve_point>& high, colour ink);
  void clip_to_plot();
  void unclip();

  /// Returns the bytes of a PNG file. Throws std::runtime_error if cairo fails.
  std::string png() const;

 private:
  void set_ink(colour ink);
  void set_font(double size, bool bold);

  double x_low_, x_high_, y_low_, y_high_;
  _cairo_surface* surface_;
  _cairo* cairo_;
};

}  // namespace troupe::detail
