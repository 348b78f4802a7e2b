#pragma once
// Files of moving pictures: GIF, and MP4 by the program ffmpeg.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace troupe {

/// The properties of all pictures of a video.
struct video_format {
  int width = 0, height = 0;  ///< In pixels.
  double fps = 30;            ///< Pictures a second; > 0.
};

/// A video that is being written. It gets its name in `finish`. Until then its bytes are in a file
/// beside it whose name has ".part" in it, which the destructor removes, so a file that is there
/// already stays as it is if the new one fails.
class video_file {
 public:
  virtual ~video_file() = default;

  /// Adds a picture, [height, width, 3] bytes. It stays in memory no longer than the next one needs
  /// it. Throws std::runtime_error naming the file if it can't be written.
  virtual void add(std::span<const std::uint8_t> rgb) = 0;
  /// Completes the file and gives it its name. Throws std::runtime_error naming the file.
  virtual void finish() = 0;
};

/// Throws std::invalid_argument unless the name ends in .gif or .mp4.
void check_video_name(const std::filesystem::path& path);

/// Begins a GIF or, if the name ends in .mp4, a video in MP4. Throws std::invalid_argument for
/// another name and where ffmpeg is needed and missing, and std::runtime_error if no file can be
/// made there.
std::unique_ptr<video_file> open_video(const std::filesystem::path& path,
                                       const video_format& format);

namespace detail {
/// Returns the name of the file that is renamed to `path` once it is complete.
std::filesystem::path unfinished(const std::filesystem::path& path);
}  // namespace detail

}  // namespace troupe
