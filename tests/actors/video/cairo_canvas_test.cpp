#include "actors/video/cairo_canvas.hpp"

#include <stdexcept>

#include "tests/test.hpp"

// Read by the leak check of an address-sanitizer build: fontconfig keeps what it has loaded.
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig\n"; }

namespace troupe {
namespace {

constexpr canvas::colour white{255, 255, 255}, black{}, red{255, 0, 0}, blue{0, 0, 255};

int count(const cairo_canvas& of, canvas::colour ink) {
  int found = 0;
  for (int y = 0; y < of.height(); ++y)
    for (int x = 0; x < of.width(); ++x) found += of.at(x, y) == ink;
  return found;
}

TEST_CASE("cairo_canvas: a picture begins in one colour and has the shapes that are drawn") {
  cairo_canvas on;
  on.begin(100, 50, white);
  CHECK(on.width() == 100);
  CHECK(on.height() == 50);
  CHECK(count(on, white) == 100 * 50);

  on.rectangle({10, 20}, 30, 5, red);
  CHECK(count(on, red) == 30 * 5);
  CHECK(on.at(10, 20) == red);
  CHECK(on.at(39, 24) == red);
  CHECK(on.at(40, 24) == white);

  on.circle({70, 25}, 10, blue);
  CHECK(on.at(70, 25) == blue);
  CHECK(on.at(63, 25) == blue);
  CHECK(on.at(58, 25) == white);
  CHECK(on.at(61, 17) == white);  // a corner of the square around it

  on.line({5, 40}, {95, 40}, 4, black);
  CHECK(on.at(50, 39) == black);
  CHECK(on.at(50, 43) == white);
}

TEST_CASE("cairo_canvas: the next picture has nothing of the one before, also in another size") {
  cairo_canvas on;
  on.begin(20, 10, white);
  on.rectangle({0, 0}, 20, 10, red);
  on.begin(20, 10, white);
  CHECK(count(on, white) == 200);
  on.begin(5, 40, blue);
  CHECK(count(on, blue) == 200);
}

TEST_CASE("cairo_canvas: a text stands around its centre") {
  cairo_canvas on;
  on.begin(100, 60, white);
  on.text({50, 30}, "H", 40, black);
  int left = 100, right = -1, top = 60, bottom = -1;
  for (int y = 0; y < 60; ++y) {
    for (int x = 0; x < 100; ++x) {
      if (on.at(x, y) == white) continue;
      left = std::min(left, x);
      right = std::max(right, x);
      top = std::min(top, y);
      bottom = std::max(bottom, y);
    }
  }
  REQUIRE(right > left);
  CHECK(std::abs(left + right + 1 - 100) <= 2);
  CHECK(std::abs(top + bottom + 1 - 60) <= 2);
}

TEST_CASE("cairo_canvas: pixels are taken as they are and can be drawn on") {
  cairo_canvas on;
  const std::vector<std::uint8_t> rgb{255, 0, 0, 0, 0, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  on.pixels(3, 2, rgb);
  CHECK(on.at(0, 0) == red);
  CHECK(on.at(1, 0) == blue);
  CHECK(on.at(2, 1) == canvas::colour{10, 11, 12});
  CHECK(on.rgb(3, 2) == rgb);
  on.rectangle({0, 0}, 1, 1, white);
  CHECK(on.at(0, 0) == white);
  CHECK(on.at(1, 0) == blue);
}

TEST_CASE("cairo_canvas: a picture of another size is scaled to fit and centred on black") {
  cairo_canvas on;
  on.begin(20, 10, red);
  const auto rgb = on.rgb(40, 40);
  REQUIRE(rgb.size() == 40 * 40 * 3);
  const auto red_at = [&](std::size_t x, std::size_t y) { return rgb[(y * 40 + x) * 3]; };
  CHECK(red_at(20, 5) == 0);
  CHECK(red_at(20, 20) == 255);
  CHECK(red_at(2, 12) == 255);
  CHECK(red_at(20, 34) == 0);
}

TEST_CASE("cairo_canvas: sizes out of range, too few bytes and no picture are refused") {
  cairo_canvas on;
  CHECK_THROWS_AS(on.circle({0, 0}, 1, red), std::logic_error);
  CHECK_THROWS_AS(on.rgb(10, 10), std::logic_error);
  CHECK_THROWS_WITH(on.begin(0, 10, white),
                    "picture: expected a width and a height of 1 to 4096, got 0 x 10");
  CHECK_THROWS_WITH(on.begin(10, 5000, white),
                    "picture: expected a width and a height of 1 to 4096, got 10 x 5000");
  CHECK_THROWS_WITH(on.pixels(3, 2, std::vector<std::uint8_t>(17)),
                    "picture: expected 2 x 3 x 3 = 18 bytes, got 17");
  on.begin(10, 10, white);
  CHECK_THROWS_AS(on.at(10, 0), std::out_of_range);
}

}  // namespace
}  // namespace troupe
