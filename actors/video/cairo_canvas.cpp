#include "actors/video/cairo_canvas.hpp"

#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numbers>
#include <stdexcept>
#include <string>

namespace troupe {
namespace {

void check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cannot draw a picture: ") +
                             cairo_status_to_string(status));
}

// A pixel of CAIRO_FORMAT_RGB24 is a native integer 0x00RRGGBB.
const std::uint32_t* row_of(cairo_surface_t* surface, int y) {
  const auto* bytes = cairo_image_surface_get_data(surface);
  return reinterpret_cast<const std::uint32_t*>(bytes +
                                                y * cairo_image_surface_get_stride(surface));
}

canvas::colour colour_of(std::uint32_t pixel) {
  return {static_cast<std::uint8_t>(pixel >> 16), static_cast<std::uint8_t>(pixel >> 8),
          static_cast<std::uint8_t>(pixel)};
}

std::vector<std::uint8_t> bytes_of(cairo_surface_t* surface) {
  cairo_surface_flush(surface);
  const int width = cairo_image_surface_get_width(surface);
  const int height = cairo_image_surface_get_height(surface);
  std::vector<std::uint8_t> rgb;
  rgb.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  for (int y = 0; y < height; ++y) {
    const auto* row = row_of(surface, y);
    for (int x = 0; x < width; ++x) {
      const auto [red, green, blue] = colour_of(row[x]);
      rgb.insert(rgb.end(), {red, green, blue});
    }
  }
  return rgb;
}

}  // namespace

cairo_canvas::~cairo_canvas() {
  cairo_destroy(cairo_);
  cairo_surface_destroy(surface_);
}

void cairo_canvas::resize(int width, int height) {
  const auto is_side = [](int side) { return side >= 1 && side <= side_max; };
  if (!is_side(width) || !is_side(height))
    throw std::invalid_argument(fmt::format(
        "picture: expected a width and a height of 1 to {}, got {} x {}", side_max, width, height));
  if (width == width_ && height == height_) return;
  cairo_destroy(cairo_);
  cairo_surface_destroy(surface_);
  surface_ = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  cairo_ = cairo_create(surface_);
  check(cairo_status(cairo_));
  cairo_set_line_cap(cairo_, CAIRO_LINE_CAP_ROUND);
  cairo_select_font_face(cairo_, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
  width_ = width;
  height_ = height;
}

_cairo* cairo_canvas::with_ink(colour ink) {
  if (!cairo_) throw std::logic_error("picture: expected begin or pixels before drawing, got none");
  check(cairo_status(cairo_));
  cairo_set_source_rgb(cairo_, ink.red / 255.0, ink.green / 255.0, ink.blue / 255.0);
  return cairo_;
}

void cairo_canvas::begin(int width, int height, colour background) {
  resize(width, height);
  cairo_paint(with_ink(background));
}

void cairo_canvas::pixels(int width, int height, std::span<const std::uint8_t> rgb) {
  resize(width, height);
  const auto wanted = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3;
  if (rgb.size() != wanted)
    throw std::invalid_argument(fmt::format("picture: expected {} x {} x 3 = {} bytes, got {}",
                                            height, width, wanted, rgb.size()));
  cairo_surface_flush(surface_);
  auto* bytes = cairo_image_surface_get_data(surface_);
  const auto* from = rgb.data();
  for (int y = 0; y < height; ++y) {
    auto* row =
        reinterpret_cast<std::uint32_t*>(bytes + y * cairo_image_surface_get_stride(surface_));
    for (int x = 0; x < width; ++x, from += 3)
      row[x] = std::uint32_t{from[0]} << 16 | std::uint32_t{from[1]} << 8 | from[2];
  }
  cairo_surface_mark_dirty(surface_);
}

void cairo_canvas::line(point from, point to, double width, colour ink) {
  auto* context = with_ink(ink);
  cairo_set_line_width(context, width);
  cairo_move_to(context, from.x, from.y);
  cairo_line_to(context, to.x, to.y);
  cairo_stroke(context);
}

void cairo_canvas::polygon(std::span<const point> corners, colour ink) {
  auto* context = with_ink(ink);
  for (const auto& corner : corners) cairo_line_to(context, corner.x, corner.y);
  cairo_fill(context);
}

void cairo_canvas::circle(point centre, double radius, colour ink) {
  auto* context = with_ink(ink);
  cairo_arc(context, centre.x, centre.y, std::max(radius, 0.0), 0, 2 * std::numbers::pi);
  cairo_fill(context);
}

void cairo_canvas::text(point centre, std::string_view words, double size, colour ink) {
  auto* context = with_ink(ink);
  const std::string line(words);
  cairo_set_font_size(context, size);
  cairo_text_extents_t extents;
  cairo_text_extents(context, line.c_str(), &extents);
  cairo_move_to(context, centre.x - extents.x_bearing - extents.width / 2,
                centre.y - extents.y_bearing - extents.height / 2);
  cairo_show_text(context, line.c_str());
  cairo_new_path(context);
}

canvas::colour cairo_canvas::at(int x, int y) const {
  if (x < 0 || x >= width_ || y < 0 || y >= height_)
    throw std::out_of_range(
        fmt::format("picture: expected a pixel within {} x {}, got {}, {}", width_, height_, x, y));
  cairo_surface_flush(surface_);
  return colour_of(row_of(surface_, y)[x]);
}

std::vector<std::uint8_t> cairo_canvas::rgb(int width, int height) const {
  if (!cairo_) throw std::logic_error("picture: expected one to be drawn, got none");
  check(cairo_status(cairo_));
  if (width == width_ && height == height_) return bytes_of(surface_);
  const std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> fitted(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height), cairo_surface_destroy);
  const std::unique_ptr<cairo_t, void (*)(cairo_t*)> context(cairo_create(fitted.get()),
                                                             cairo_destroy);
  const double scale =
      std::min(static_cast<double>(width) / width_, static_cast<double>(height) / height_);
  cairo_translate(context.get(), (width - scale * width_) / 2, (height - scale * height_) / 2);
  cairo_scale(context.get(), scale, scale);
  cairo_set_source_surface(context.get(), surface_, 0, 0);
  cairo_paint(context.get());
  check(cairo_status(context.get()));
  return bytes_of(fitted.get());
}

}  // namespace troupe
