#include "actors/recorder/curve_canvas.hpp"

#include <cairo.h>

#include <numbers>
#include <stdexcept>

namespace troupe::detail {

curve_canvas::curve_canvas(double x_low, double x_high, double y_low, double y_high)
    : x_low_(x_low),
      x_high_(x_high),
      y_low_(y_low),
      y_high_(y_high),
      surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height)),
      cairo_(cairo_create(surface_)) {
  cairo_set_source_rgb(cairo_, 1, 1, 1);
  cairo_paint(cairo_);
  cairo_set_line_join(cairo_, CAIRO_LINE_JOIN_ROUND);
}

curve_canvas::~curve_canvas() {
  cairo_destroy(cairo_);
  cairo_surface_destroy(surface_);
}

void curve_canvas::set_ink(colour ink) {
  cairo_set_source_rgba(cairo_, ink.red, ink.green, ink.blue, ink.alpha);
}

void curve_canvas::set_font(double size, bool bold) {
  cairo_select_font_face(cairo_, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo_, size);
}

double curve_canvas::text_width(const std::string& text, double size, bool bold) {
  set_font(size, bold);
  cairo_text_extents_t extents;
  cairo_text_extents(cairo_, text.c_str(), &extents);
  return extents.x_advance;
}

void curve_canvas::text(double x, double y, const std::string& text, double size, colour ink,
                        align aligned, bool bold) {
  const double shift = aligned == align::left ? 0 : aligned == align::centre ? 0.5 : 1;
  const double start = x - shift * text_width(text, size, bold);
  set_ink(ink);
  cairo_move_to(cairo_, start, y);
  cairo_show_text(cairo_, text.c_str());
}

void curve_canvas::text_upwards(double x, double y, const std::string& words, double size,
                                colour ink) {
  cairo_save(cairo_);
  cairo_translate(cairo_, x, y);
  cairo_rotate(cairo_, -std::numbers::pi / 2);
  text(0, 0, words, size, ink, align::centre);
  cairo_restore(cairo_);
}

void curve_canvas::segment(double x1, double y1, double x2, double y2, double line_width,
                           colour ink, bool dashed) {
  const double dashes[] = {7, 5};
  cairo_set_dash(cairo_, dashes, dashed ? 2 : 0, 0);
  cairo_set_line_width(cairo_, line_width);
  set_ink(ink);
  cairo_move_to(cairo_, x1, y1);
  cairo_line_to(cairo_, x2, y2);
  cairo_stroke(cairo_);
  cairo_set_dash(cairo_, dashes, 0, 0);
}

void curve_canvas::box(double x, double y, double box_width, double box_height, colour ink) {
  set_ink(ink);
  cairo_rectangle(cairo_, x, y, box_width, box_height);
  cairo_fill(cairo_);
}

void curve_canvas::disc(double x, double y, double radius, colour ink, double rim) {
  if (rim > 0) disc(x, y, radius + rim, {1, 1, 1});
  set_ink(ink);
  cairo_arc(cairo_, x, y, radius, 0, 2 * std::numbers::pi);
  cairo_fill(cairo_);
}

void curve_canvas::line(const std::vector<curve_point>& points, double line_width, colour ink) {
  if (points.empty()) return;
  cairo_new_path(cairo_);
  for (const auto& point : points) cairo_line_to(cairo_, x(point.step), y(point.value));
  set_ink(ink);
  cairo_set_line_width(cairo_, line_width);
  cairo_stroke(cairo_);
}

void curve_canvas::band(const std::vector<curve_point>& low, const std::vector<curve_point>& high,
                        colour ink) {
  cairo_new_path(cairo_);
  for (const auto& point : low) cairo_line_to(cairo_, x(point.step), y(point.value));
  for (auto point = high.rbegin(); point != high.rend(); ++point)
    cairo_line_to(cairo_, x(point->step), y(point->value));
  cairo_close_path(cairo_);
  set_ink(ink);
  cairo_fill(cairo_);
}

void curve_canvas::clip_to_plot() {
  cairo_save(cairo_);
  // The clip is a little wider than the plot area, so that a point on its edge is drawn completely.
  cairo_rectangle(cairo_, left - 1, top - 6, right - left + 7, bottom - top + 8);
  cairo_clip(cairo_);
}

void curve_canvas::unclip() { cairo_restore(cairo_); }

std::string curve_canvas::png() const {
  auto append = [](void* to, const unsigned char* data, unsigned length) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
  };
  std::string bytes;
  auto status = cairo_status(cairo_);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_write_to_png_stream(surface_, append, &bytes);
  if (status != CAIRO_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cannot draw the learning curve: ") +
                             cairo_status_to_string(status));
  return bytes;
}

}  // namespace troupe::detail
