#include "actors/environments/image_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace troupe {
namespace {

/// True for [height, width, channels], false for [channels, height, width].
bool channels_are_last(std::int64_t first, std::int64_t second, std::int64_t third) {
  if ((first == second) != (second == third)) return first == second;
  return third < first && third < second;
}

float high_of(const spaces::box& of) {
  float high = 0;
  for (const auto bound : of.low) high = std::max(high, std::abs(bound));
  for (const auto bound : of.high) high = std::max(high, std::abs(bound));
  return high > 0 && std::isfinite(high) ? high : 1.0F;
}

}  // namespace

bool is_image(const spaces::box& of) {
  const auto all = [](const std::vector<float>& bounds, float value) {
    return std::ranges::all_of(bounds, [&](float bound) { return bound == value; });
  };
  return of.type == spaces::element::uint8 && of.shape.size() >= 2 && all(of.low, 0) &&
         all(of.high, 255);
}

std::optional<image_layout> image_layout_of(const spaces::box& of) {
  const auto& shape = of.shape;
  if (shape.size() < 2) return std::nullopt;
  auto height = shape[shape.size() - 2], width = shape.back();
  std::int64_t interleaved = 0;
  if (shape.size() >= 3) {
    const auto first = shape[shape.size() - 3];
    if (channels_are_last(first, height, width)) {
      interleaved = width;
      width = height;
      height = first;
    }
  }
  if (height < 1 || width < 1 || of.low.empty()) return std::nullopt;
  const auto channels = static_cast<std::int64_t>(of.low.size()) / (height * width);
  return image_layout{channels, height, width, interleaved, high_of(of)};
}

std::string to_short_string(const spaces::box& of) {
  const auto lowest = std::ranges::min_element(of.low);
  const auto highest = std::ranges::max_element(of.high);
  return fmt::format("Box({}, ({}{}), from {} to {})",
                     of.type == spaces::element::uint8 ? "uint8" : "float32",
                     fmt::join(of.shape, ", "), of.shape.size() == 1 ? "," : "",
                     lowest == of.low.end() ? 0 : *lowest, highest == of.high.end() ? 0 : *highest);
}

}  // namespace troupe
