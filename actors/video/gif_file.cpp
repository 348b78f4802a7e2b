#include "actors/video/gif_file.hpp"

#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "actors/video/colour_palette.hpp"

namespace troupe {
namespace {

constexpr std::size_t colours_max = 255;  // one of GIF's 256 is for pixels that stay as they are
constexpr int delay_min = 2;              // hundredths of a second

int append_to_string(GifFileType* gif, const GifByteType* bytes, int count) {
  auto* text = static_cast<std::string*>(gif->UserData);
  text->append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
  return count;
}

/// Returns the palette as giflib wants it: a power of two of colours, and one that isn't used.
std::unique_ptr<ColorMapObject, void (*)(ColorMapObject*)> map_of(
    const std::vector<canvas::colour>& colours) {
  const int count = 1 << GifBitSize(static_cast<int>(colours.size()) + 1);
  std::vector<GifColorType> all(static_cast<std::size_t>(count));
  std::ranges::transform(colours, all.begin(), [](const canvas::colour& of) {
    return GifColorType{of.red, of.green, of.blue};
  });
  return {GifMakeMapObject(count, all.data()), GifFreeMapObject};
}

}  // namespace

gif_file::gif_file(const std::filesystem::path& path, const video_format& format)
    : path_(path), format_(format), file_(detail::unfinished(path)) {
  int error = 0;
  gif_ = EGifOpen(&made_, append_to_string, &error);
  if (!gif_) {
    std::error_code ignored;
    std::filesystem::remove(file_.path(), ignored);
    throw std::runtime_error("cannot make " + path_.string() + ": " + GifErrorString(error));
  }
}

gif_file::~gif_file() {
  if (gif_) EGifCloseFile(gif_, nullptr);
  if (is_finished_) return;
  std::error_code ignored;
  std::filesystem::remove(file_.path(), ignored);
}

void gif_file::need(int status) const {
  if (status == GIF_OK) return;
  const char* reason = GifErrorString(gif_->Error);
  throw std::runtime_error("cannot make " + path_.string() + ": " +
                           (reason ? reason : "giflib failed"));
}

void gif_file::flush() {
  file_.append(made_);
  made_.clear();
}

int gif_file::next_delay() {
  const auto until = [this](std::int64_t pictures) {
    return std::llround(100 * static_cast<double>(pictures) / format_.fps);
  };
  const auto before = until(count_++);
  constexpr int delay_max = 65'535;
  return static_cast<int>(std::clamp<long long>(until(count_) - before, delay_min, delay_max));
}

void gif_file::put_header() {
  constexpr int bits_of_a_colour = 8;
  EGifSetGifVersion(gif_, true);
  need(EGifPutScreenDesc(gif_, format_.width, format_.height, bits_of_a_colour, 0, nullptr));
  // Netscape's extension: how often the pictures repeat, where 0 means for ever.
  constexpr std::array<GifByteType, 3> repeats{1, 0, 0};
  need(EGifPutExtensionLeader(gif_, APPLICATION_EXT_FUNC_CODE));
  need(EGifPutExtensionBlock(gif_, 11, "NETSCAPE2.0"));
  need(EGifPutExtensionBlock(gif_, repeats.size(), repeats.data()));
  need(EGifPutExtensionTrailer(gif_));
}

gif_file::rectangle gif_file::changed(const std::vector<canvas::colour>& picture) const {
  if (shown_.empty()) return {0, 0, format_.width, format_.height};
  int left = format_.width, right = -1, top = format_.height, bottom = -1;
  auto at = std::size_t{0};
  for (int y = 0; y < format_.height; ++y) {
    for (int x = 0; x < format_.width; ++x, ++at) {
      if (picture[at] == shown_[at]) continue;
      left = std::min(left, x);
      right = std::max(right, x);
      top = std::min(top, y);
      bottom = y;
    }
  }
  if (bottom < 0) return {0, 0, 1, 1};
  return {left, top, right - left + 1, bottom - top + 1};
}

void gif_file::put_picture(const std::vector<canvas::colour>& picture, const rectangle& where) {
  const auto [left, top, width, height] = where;
  std::vector<std::size_t> places;  // of all pixels of the rectangle
  std::vector<canvas::colour> new_pixels;
  for (int y = top; y < top + height; ++y) {
    for (int x = left; x < left + width; ++x) {
      const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(format_.width) +
                      static_cast<std::size_t>(x);
      places.push_back(at);
      if (shown_.empty() || picture[at] != shown_[at]) new_pixels.push_back(picture[at]);
    }
  }
  const colour_palette palette(new_pixels, colours_max);
  const auto unchanged = static_cast<GifPixelType>(palette.colours().size());
  std::vector<GifPixelType> indices;
  for (const auto at : places) {
    const bool is_new = shown_.empty() || picture[at] != shown_[at];
    indices.push_back(is_new ? palette.index_of(picture[at]) : unchanged);
  }

  const GraphicsControlBlock control{.DisposalMode = DISPOSE_DO_NOT,
                                     .UserInputFlag = false,
                                     .DelayTime = next_delay(),
                                     .TransparentColor = unchanged};
  std::array<GifByteType, 4> bytes;
  EGifGCBToExtension(&control, bytes.data());
  need(EGifPutExtension(gif_, GRAPHICS_EXT_FUNC_CODE, bytes.size(), bytes.data()));
  const auto map = map_of(palette.colours());
  need(EGifPutImageDesc(gif_, left, top, width, height, false, map.get()));
  for (int y = 0; y < height; ++y) {
    auto* row = indices.data() + static_cast<std::ptrdiff_t>(y) * width;
    need(EGifPutLine(gif_, row, width));
  }
}

void gif_file::add(std::span<const std::uint8_t> rgb) {
  std::vector<canvas::colour> picture(rgb.size() / 3);
  for (std::size_t i = 0; i < picture.size(); ++i)
    picture[i] = {rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]};
  if (count_ == 0) put_header();
  put_picture(picture, changed(picture));
  shown_ = std::move(picture);
  flush();
}

void gif_file::finish() {
  int error = 0;
  if (EGifCloseFile(std::exchange(gif_, nullptr), &error) != GIF_OK)
    throw std::runtime_error("cannot make " + path_.string() + ": " + GifErrorString(error));
  flush();
  file_.rename(path_);
  is_finished_ = true;
}

}  // namespace troupe
