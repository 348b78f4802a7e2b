#include "tests/actors/video/read_gif.hpp"

#include <gif_lib.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

namespace troupe::testing {
namespace {

bool is_loop(const ExtensionBlock& block, const ExtensionBlock& next) {
  const auto text = [](const ExtensionBlock& of) {
    return std::string(reinterpret_cast<const char*>(of.Bytes),
                       static_cast<std::size_t>(of.ByteCount));
  };
  return block.Function == APPLICATION_EXT_FUNC_CODE && text(block) == "NETSCAPE2.0" &&
         text(next) == std::string("\1\0\0", 3);
}

void show(const SavedImage& image, int transparent, int width,
          std::vector<canvas::colour>& picture) {
  const auto& where = image.ImageDesc;
  for (int i = 0; i < where.Width * where.Height; ++i) {
    const int index = image.RasterBits[i];
    if (index == transparent) continue;
    if (index >= where.ColorMap->ColorCount) throw std::runtime_error("gif: a colour too high");
    const auto& colour = where.ColorMap->Colors[index];
    const int x = where.Left + i % where.Width, y = where.Top + i / where.Width;
    picture.at(static_cast<std::size_t>(y * width + x)) = {colour.Red, colour.Green, colour.Blue};
  }
}

}  // namespace

shown_gif read_gif(const std::filesystem::path& path) {
  int error = 0;
  const auto close = [](GifFileType* gif) { DGifCloseFile(gif, nullptr); };
  const std::unique_ptr<GifFileType, decltype(close)> gif(DGifOpenFileName(path.c_str(), &error),
                                                          close);
  if (!gif || DGifSlurp(gif.get()) != GIF_OK)
    throw std::runtime_error("gif: cannot read " + path.string());
  shown_gif shown{.width = gif->SWidth, .height = gif->SHeight};
  std::vector<canvas::colour> picture(static_cast<std::size_t>(shown.width * shown.height));
  for (int i = 0; i < gif->ImageCount; ++i) {
    const auto& image = gif->SavedImages[i];
    GraphicsControlBlock control{};
    DGifSavedExtensionToGCB(gif.get(), i, &control);
    for (int k = 0; k + 1 < image.ExtensionBlockCount; ++k)
      shown.repeats |= is_loop(image.ExtensionBlocks[k], image.ExtensionBlocks[k + 1]);
    show(image, control.TransparentColor, shown.width, picture);
    shown.delays.push_back(control.DelayTime);
    shown.stored.push_back(
        static_cast<std::size_t>(image.ImageDesc.Width * image.ImageDesc.Height));
    shown.pictures.push_back(picture);
  }
  return shown;
}

}  // namespace troupe::testing
