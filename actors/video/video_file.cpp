#include "actors/video/video_file.hpp"

#include <unistd.h>

#include <stdexcept>

#include "actors/video/ffmpeg_file.hpp"
#include "actors/video/gif_file.hpp"

namespace troupe {

void check_video_name(const std::filesystem::path& path) {
  const auto suffix = path.extension();
  if (suffix != ".gif" && suffix != ".mp4")
    throw std::invalid_argument("video: expected a file that ends in .gif or .mp4, got " +
                                path.string());
}

std::unique_ptr<video_file> open_video(const std::filesystem::path& path,
                                       const video_format& format) {
  check_video_name(path);
  if (path.extension() == ".gif") return std::make_unique<gif_file>(path, format);
  return std::make_unique<ffmpeg_file>(path, format);
}

std::filesystem::path detail::unfinished(const std::filesystem::path& path) {
  auto name = path;
  name += ".part" + std::to_string(::getpid());
  return name;
}

}  // namespace troupe
