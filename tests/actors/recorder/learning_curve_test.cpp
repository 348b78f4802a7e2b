#include "actors/recorder/learning_curve.hpp"

#include <cairo.h>

#include <cmath>
#include <cstdint>
#include <memory>

#include "actors/recorder/episode_history.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

// Read by the leak check of an address-sanitizer build: fontconfig keeps what it has loaded.
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig\n"; }

namespace {

using troupe::curve_point;
using troupe::episode_history;
using troupe::learning_curve;

/// A PNG read back: how many pixels are bluish (the mean and the episodes), orange (evaluations) or
/// green (the threshold).
struct picture {
  int width = 0, height = 0, blue = 0, orange = 0, green = 0, white = 0;
  int highest_whisker = 0;  ///< The first row below the legend with a whisker's pale orange.
};

picture decode(const std::string& png) {
  struct source {
    const std::string& bytes;
    std::size_t at = 0;
  } from{png};
  auto read = [](void* closure, unsigned char* to, unsigned length) {
    auto& in = *static_cast<source*>(closure);
    if (in.bytes.size() - in.at < length) return CAIRO_STATUS_READ_ERROR;
    in.bytes.copy(reinterpret_cast<char*>(to), length, in.at);
    in.at += length;
    return CAIRO_STATUS_SUCCESS;
  };
  std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface(
      cairo_image_surface_create_from_png_stream(read, &from), cairo_surface_destroy);
  REQUIRE(cairo_surface_status(surface.get()) == CAIRO_STATUS_SUCCESS);
  picture result;
  result.width = cairo_image_surface_get_width(surface.get());
  result.height = cairo_image_surface_get_height(surface.get());
  const auto* data = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  for (int y = 0; y < result.height; ++y) {
    for (int x = 0; x < result.width; ++x) {
      const auto pixel = *reinterpret_cast<const std::uint32_t*>(data + y * stride + 4 * x);
      const int red = pixel >> 16 & 255, green = pixel >> 8 & 255, blue = pixel & 255;
      result.white += red == 255 && green == 255 && blue == 255;
      result.blue += blue > red + 25 && blue > green + 12;
      result.orange += red > blue + 60 && red > green + 40;
      const bool whisker = y > 70 && red > blue + 60 && red > green + 25;
      if (whisker && result.highest_whisker == 0) result.highest_whisker = y;
      result.green += green > red + 40 && green > blue + 15;
    }
  }
  return result;
}

learning_curve rising(int episodes) {
  learning_curve curve;
  curve.title = "PPO on CartPole-v1";
  for (int i = 0; i < episodes; ++i) curve.episodes.push_back({100.0 * i, 100.0 + i % 50});
  return curve;
}

TEST_CASE("learning_curve: is a 900x520 picture on white", "[recorder]") {
  const auto drawn = decode(troupe::render_learning_curve(rising(200)));
  CHECK(drawn.width == 900);
  CHECK(drawn.height == 520);
  CHECK(drawn.white > 900 * 520 * 7 / 10);
  CHECK(drawn.blue > 1000);
  CHECK(drawn.orange == 0);
  CHECK(drawn.green == 0);
}

TEST_CASE("learning_curve: evaluations and the threshold are seen", "[recorder]") {
  auto curve = rising(200);
  curve.evaluations = {{5000, 120, 10}, {10000, 130, 0}, {15000, 140, std::nan("")}};
  const auto evaluated = decode(troupe::render_learning_curve(curve));
  CHECK(evaluated.orange > 3 * 40);  // three discs of radius 4
  curve.threshold = 475;
  CHECK(decode(troupe::render_learning_curve(curve)).green > 300);  // a dashed line
}

TEST_CASE("learning_curve: many evaluations don't cover the curve", "[recorder]") {
  auto curve = rising(200);
  for (int i = 0; i < 60; ++i) curve.evaluations.push_back({331.0 * i, 120, 10});
  const auto few = decode(troupe::render_learning_curve(curve));
  curve.evaluations.clear();
  for (int i = 0; i < 3000; ++i) curve.evaluations.push_back({6.62 * i, 120, 10});
  const auto many = decode(troupe::render_learning_curve(curve));
  CHECK(many.orange > 0);
  CHECK(many.orange < few.orange * 11 / 10);
}

TEST_CASE("learning_curve: a deviation that reaches above all returns ends below the top",
          "[recorder]") {
  auto curve = rising(200);
  curve.evaluations = {{5000, 140, 60}};  // as high as 200, where no episode is above 149
  const int top = decode(troupe::render_learning_curve(curve)).highest_whisker;
  CHECK(top > 84 + 5);  // within the plot area
  CHECK(top < 130);
}

TEST_CASE("learning_curve: many episodes are a band", "[recorder]") {
  // Returns between 100 and 149 fill a band across the whole width.
  CHECK(decode(troupe::render_learning_curve(rising(20000))).blue > 20000);
}

TEST_CASE("learning_curve: is drawn from nothing, one point, and numbers that are none",
          "[recorder]") {
  learning_curve curve;
  CHECK(decode(troupe::render_learning_curve(curve)).blue == 0);
  curve.episodes = {{10, 20}};
  CHECK(decode(troupe::render_learning_curve(curve)).blue > 0);
  curve.episodes = {{10, std::nan("")}, {INFINITY, 3}, {20, -INFINITY}, {30, 1e308}, {40, -1e308}};
  curve.threshold = std::nan("");
  curve.evaluations = {{1, INFINITY, 0}};
  CHECK(decode(troupe::render_learning_curve(curve)).blue == 0);
}

TEST_CASE("learning_curve: the file is replaced as a whole", "[recorder]") {
  temporary_folder folder;
  const auto path = folder.path / "learning_curve.png";
  std::ofstream(path) << "old";
  troupe::draw_learning_curve(rising(10), path);
  CHECK(decode(read_text(path)).width == 900);
  CHECK(count_entries(folder.path) == 1);
}

TEST_CASE("moving_mean: averages the last points, fewer at the start", "[recorder]") {
  const auto means = troupe::moving_mean({{1, 2}, {2, 4}, {3, 6}, {4, 10}}, 2);
  REQUIRE(means.size() == 4);
  CHECK(means[0].value == 2);
  CHECK(means[1].value == 3);
  CHECK(means[2].value == 5);
  CHECK(means[3].value == 8);
  CHECK(means[3].step == 4);
  CHECK(troupe::moving_mean({}, 100).empty());
}

TEST_CASE("episode_history: means are over the last episodes, points are bounded", "[recorder]") {
  episode_history history(/*window=*/2, /*points_max=*/4);
  CHECK(history.empty());
  CHECK(std::isnan(history.mean_return()));
  for (int i = 1; i <= 3; ++i) history.add(10.0 * i, i, 2.0 * i);
  CHECK(history.mean_return() == 2.5);
  CHECK(history.mean_length() == 5);
  CHECK(history.episodes().size() == 3);

  for (int i = 4; i <= 1000; ++i) history.add(10.0 * i, i, 2.0 * i);
  CHECK(history.count() == 1000);
  CHECK(history.mean_return() == 999.5);
  CHECK(history.episodes().size() <= 4);
  // What is kept is spread over the whole run, each with the mean that it had then.
  CHECK(history.episodes().front().value == 1);
  CHECK(history.episodes().back().value > 500);
  for (std::size_t i = 1; i < history.episodes().size(); ++i)
    CHECK(history.means()[i].value == history.episodes()[i].value - 0.5);
}

}  // namespace
