#include "actors/replay/image_part.hpp"

namespace troupe {
namespace {

// Smaller parts are kept as floats, because the numbers of frames would take as much memory.
constexpr std::size_t size_min = 64;
// A first dimension that is larger does not count frames. The frames would be small then.
constexpr std::int64_t frames_max = 64;

bool may_be_colours(std::int64_t channels) { return channels % 3 == 0; }

/// Sets the frames of a part, which is a Box of that shape.
void set_frames(const std::vector<std::int64_t>& shape, image_part& to) {
  if (shape.size() < 3) return;
  const auto height = shape[0], width = shape[1], last = shape.back();
  const bool interleaved = shape.size() == 3 && last < height && last < width;
  if (interleaved && (last == 1 || last == 3)) return;
  const auto frames = interleaved ? last : shape[0];
  if (frames > frames_max || to.size / static_cast<std::size_t>(frames) < size_min) return;
  to.frames = static_cast<std::size_t>(frames);
  to.fresh = shape.size() == 3 && may_be_colours(frames) ? 3 : 1;
  to.interleaved = interleaved;
}

/// Appends the images of a space whose first number has the index `offset`, and moves `offset`
/// behind the space.
void collect(const space& of, std::size_t& offset, std::vector<image_part>& to) {
  if (const auto* named = of.get_if<spaces::dict>()) {
    for (const auto& part : named->parts) collect(part.second, offset, to);
    return;
  }
  if (const auto* ordered = of.get_if<spaces::tuple>()) {
    for (const auto& part : ordered->parts) collect(part, offset, to);
    return;
  }
  const auto size = of.flat_size();
  const auto* box = of.get_if<spaces::box>();
  if (box && box->type == spaces::element::uint8 && size >= size_min) {
    image_part image{.begin = offset, .size = size};
    set_frames(box->shape, image);
    to.push_back(image);
  }
  offset += size;
}

}  // namespace

std::vector<image_part> images_of(const space& observations) {
  std::vector<image_part> images;
  std::size_t offset = 0;
  collect(observations, offset, images);
  return images;
}

}  // namespace troupe
