#include "actors/video/colour_palette.hpp"

#include <algorithm>
#include <cstddef>

namespace troupe {
namespace {

/// The pixels whose colours agree in their upper bits.
struct bin {
  std::size_t number = 0;
  std::uint64_t count = 0;
  std::array<std::uint64_t, 3> sum{};  // of red, green and blue

  double mean(std::size_t channel) const {
    return static_cast<double>(sum[channel]) / static_cast<double>(count);
  }
};

/// Some of the bins, which get one colour.
struct box {
  std::span<bin> bins;
  std::size_t channel = 0;  // the one in which the bins differ most
  double spread = 0;        // by how much they differ in it
  std::uint64_t count = 0;  // the number of pixels

  explicit box(std::span<bin> of) : bins(of) {
    for (const auto& each : bins) count += each.count;
    for (std::size_t c = 0; c < 3; ++c) {
      const auto [low, high] =
          std::ranges::minmax(bins, {}, [c](const bin& each) { return each.mean(c); });
      const double apart = high.mean(c) - low.mean(c);
      if (apart <= spread) continue;
      channel = c;
      spread = apart;
    }
  }

  /// Says how much a cut of this box gains.
  double weight() const { return spread * static_cast<double>(count); }

  /// Cuts the box where half of its pixels lie on either side, and returns the number of bins on
  /// the first side, at least 1 and not all.
  std::size_t cut() const {
    std::ranges::sort(bins, {}, [this](const bin& each) { return each.mean(channel); });
    std::uint64_t before = 0;
    std::size_t first = 0;
    while (first + 1 < bins.size() && (first == 0 || 2 * before < count))
      before += bins[first++].count;
    return first;
  }

  canvas::colour mean() const {
    std::array<std::uint64_t, 3> sum{};
    for (const auto& each : bins)
      for (std::size_t c = 0; c < 3; ++c) sum[c] += each.sum[c];
    const auto rounded = [&](std::size_t c) {
      return static_cast<std::uint8_t>((sum[c] + count / 2) / count);
    };
    return {rounded(0), rounded(1), rounded(2)};
  }
};

}  // namespace

colour_palette::colour_palette(std::span<const canvas::colour> pixels, std::size_t colours_max)
    : index_(std::size_t{1} << (3 * bits)) {
  std::vector<bin> all(index_.size());
  for (const auto& pixel : pixels) {
    auto& into = all[bin_of(pixel)];
    ++into.count;
    into.sum[0] += pixel.red;
    into.sum[1] += pixel.green;
    into.sum[2] += pixel.blue;
  }
  std::vector<bin> used;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].count == 0) continue;
    used.push_back(all[i]);
    used.back().number = i;
  }
  if (used.empty()) return;
  std::vector<box> boxes{box(used)};
  while (boxes.size() < colours_max) {
    auto& widest = *std::ranges::max_element(boxes, {}, &box::weight);
    if (widest.bins.size() < 2) break;
    const auto bins = widest.bins;
    const auto first = widest.cut();
    widest = box(bins.first(first));
    boxes.emplace_back(bins.subspan(first));
  }
  for (const auto& each : boxes) {
    const auto index = static_cast<std::uint8_t>(colours_.size());
    colours_.push_back(each.mean());
    for (const auto& one : each.bins) index_[one.number] = index;
  }
}

}  // namespace troupe
